import { type RefObject, useEffect, useRef, useState } from "react";

export type SeenToEnd = {
  /** Of an element right behind what has to be seen. */
  readonly end: RefObject<HTMLSpanElement | null>;
  readonly isSeen: boolean;
  readonly show: () => void;
};

/** Whether the end of something was in sight: what is dangerous about a command may be its last line. Rule WEB-94. */
export function useSeenToEnd(): SeenToEnd {
  const end = useRef<HTMLSpanElement>(null);
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    if (end.current === null || isSeen) return undefined;
    const observer = new IntersectionObserver(
      (seen) => seen.some((it) => it.isIntersecting) && setSeen(true),
      sightOf(end.current),
    );
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [isSeen]);
  return { end, isSeen, show: () => end.current?.scrollIntoView({ block: "center" }) };
}

/** Above a terminal the buttons lie over what is below them. */
function sightOf(end: HTMLElement): IntersectionObserverInit {
  const root = end.closest(".session-cards");
  const covered = end.closest(".ask")?.querySelector<HTMLElement>(".decide")?.offsetHeight ?? 0;
  return root === null ? {} : { root, rootMargin: `0px 0px -${covered}px 0px` };
}

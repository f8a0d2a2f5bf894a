import { type ReactNode, useState } from "react";

/** Permission is asked for by a person's click, never by the page itself. */
export function NotifyButton(): ReactNode {
  const [permission, setPermission] = useState<NotificationPermission | "unavailable">(() =>
    "Notification" in globalThis && isSecureContext ? Notification.permission : "unavailable",
  );
  switch (permission) {
    case "default":
      return (
        <button
          className="push"
          type="button"
          onClick={() => void Notification.requestPermission().then((it) => setPermission(it))}
        >
          Notify me when this page is hidden
        </button>
      );
    case "granted":
      return <span className="soft push">You are notified when this page is hidden.</span>;
    case "denied":
      return <span className="soft push">Notifications are blocked: allow them in the browser&apos;s settings.</span>;
    case "unavailable":
      return <span className="soft push">This browser shows no notifications for an address without https.</span>;
  }
}

/** The operator's settings, one page each; loaded when somebody goes there. */
import type { ReactNode } from "react";
import { ChannelsPage } from "./channels-page.tsx";
import { DoctorPage } from "./doctor-page.tsx";
import { HostsPage } from "./hosts-page.tsx";
import { PolicyPage } from "./policy-page.tsx";
import { TokensPage } from "./tokens-page.tsx";
import "./settings.css";

const PAGES: Readonly<Record<string, () => ReactNode>> = {
  channels: ChannelsPage,
  doctor: DoctorPage,
  hosts: HostsPage,
  policy: PolicyPage,
  tokens: TokensPage,
};

export default function Settings({ page }: { readonly page: string }): ReactNode {
  const Page = PAGES[page];
  return Page === undefined ? null : <Page />;
}

import { createRoot } from "react-dom/client";
import { Demo } from "./demo/demo.ts";
import { DemoContext } from "./demo/use-demo.ts";
import { Hub } from "./model/hub.ts";
import { HubContext } from "./model/use-hub.ts";
import { App } from "./shell/app.tsx";
import "./ui/base.css";

const place = document.getElementById("app");
if (place === null) throw new Error("the page has no place for the app");
const hub = new Hub();
createRoot(place).render(
  <HubContext value={hub}>
    <DemoContext value={new Demo(hub)}>
      <App />
    </DemoContext>
  </HubContext>,
);

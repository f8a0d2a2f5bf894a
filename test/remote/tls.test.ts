import { expect, onTestFinished, test } from "vitest";
import { operatorClient, startTestHub } from "../support/hub.ts";
import { ask, verdict } from "../support/http.ts";
import { joinHost } from "../support/remote-host.ts";
import { runCli } from "../support/run-cli.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { makeCertificates, openTlsWay } from "../support/tls-way.ts";

test("[RML-2] a host joins over TLS with an authority of one's own, and not without it (needs openssl)", async () => {
  const directory = await temporaryDirectory();
  const certificates = makeCertificates(directory, ["DNS:localhost"]);
  const way = await openTlsWay(certificates);
  onTestFinished(way.close);
  const url = `https://localhost:${way.port}`;
  const hub = await startTestHub({ args: ["--public-url", url] });
  way.target = hub.port;
  const person = operatorClient(hub.dataDir);

  const unknown = joinHost({ url, person, name: "trusting" });
  await expect(unknown).rejects.toThrow(/certificate is not one that this machine believes .* --ca FILE/);
  const host = await joinHost({ url, person, name: "careful", args: ["--ca", certificates.ca] });
  onTestFinished(host.end);

  expect(await person.host.get({ hostId: "careful" })).toMatchObject({ online: true });
});

test("[RML-2] an address that is not encrypted is refused by the host", async () => {
  const dataDir = await temporaryDirectory();

  const { code, stderr } = await runCli([
    "host",
    "join",
    "http://hub.example.com:4180",
    "--code",
    "x",
    "--data-dir",
    dataDir,
  ]);

  expect(code).toBe(2);
  expect(stderr).toMatch(/not encrypted.*https/);
});

test("[RML-2] and by the hub", async () => {
  const hub = await startTestHub({ args: ["--public-url", "http://hub.example.com"] });
  const { code } = await operatorClient(hub.dataDir).host.invite({});
  const facts = { os: "Linux", arch: "x64", shells: [], version: "1" };
  const enrol = (host: string) =>
    ask(hub.url.replace(/\/\/.*/, `//127.0.0.1:${hub.port}`), {
      method: "POST",
      path: "/hosts/enroll",
      headers: { host },
      body: { code, hostname: "x", ...facts },
    }).then(verdict);

  expect(await enrol("hub.example.com")).toBe("403 origin_refused");
  expect(await enrol(`127.0.0.1:${hub.port}`)).toBe("201");
});

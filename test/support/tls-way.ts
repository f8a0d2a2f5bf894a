/** TLS before a hub, as a proxy would put it there, with an authority of its own. */
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createConnection } from "node:net";
import { join } from "node:path";
import { createServer, type Server } from "node:tls";

export type Certificates = { readonly ca: string; readonly key: Buffer; readonly cert: Buffer };

/** For these names and addresses, as a certificate says them: `DNS:localhost`, `IP:10.0.0.1`. */
export function makeCertificates(directory: string, names: readonly string[]): Certificates {
  const at = (name: string): string => join(directory, name);
  const run = (...args: string[]): unknown => execFileSync("openssl", args, { stdio: "ignore" });
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  run(
    "req",
    "-x509",
    ...key,
    "-days",
    "2",
    "-subj",
    "/CN=test authority",
    "-keyout",
    at("ca.key"),
    "-out",
    at("ca.pem"),
  );
  run("req", ...key, "-subj", "/CN=hub", "-keyout", at("hub.key"), "-out", at("hub.csr"));
  writeFileSync(at("names"), `subjectAltName=${names.join(",")}\n`);
  const signed = [
    "-CA",
    at("ca.pem"),
    "-CAkey",
    at("ca.key"),
    "-CAcreateserial",
    "-days",
    "2",
    "-extfile",
    at("names"),
  ];
  run("x509", "-req", "-in", at("hub.csr"), ...signed, "-out", at("hub.pem"));
  return { ca: at("ca.pem"), key: readFileSync(at("hub.key")), cert: readFileSync(at("hub.pem")) };
}

/** Where it leads may be set later. */
export type TlsWay = { readonly port: number; target: number; readonly close: () => Promise<void> };

export async function openTlsWay({ key, cert }: Certificates, host = "127.0.0.1"): Promise<TlsWay> {
  const server: Server = createServer({ key, cert }, (near) => {
    const far = createConnection({ port: way.target, host: "127.0.0.1", noDelay: true });
    near.on("error", () => far.destroy());
    far.on("error", () => near.destroy());
    near.once("close", () => far.destroy());
    far.once("close", () => near.destroy());
    near.pipe(far).pipe(near);
  });
  server.listen(0, host);
  await once(server, "listening");
  const way: TlsWay = {
    port: (server.address() as AddressInfo).port,
    target: 0,
    close: async () => {
      server.close();
    },
  };
  return way;
}

/** Whether an address never leaves this machine. Others are reached over TLS alone (RML-2). */
export function isLoopback(hostname: string): boolean {
  const name = hostname.toLowerCase();
  return name === "localhost" || name === "[::1]" || name === "::1" || /^127(?:\.\d{1,3}){3}$/.test(name);
}

/** Why hosts are not served under an address; undefined: they are. */
export function plainRefusal(url: URL): string | undefined {
  if (url.protocol === "https:" || isLoopback(url.hostname)) return undefined;
  return `${url.origin} is not encrypted: whoever is on the way could read and type. Use https, or an ssh tunnel to the hub's port on 127.0.0.1`;
}

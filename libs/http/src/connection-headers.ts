/** Hop-by-hop headers, which belong to the connection and not to the message (RFC 9110 §7.6.1). */
export const connectionHeaders: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Returns the headers that `Connection` names, in lower case; undefined when it names only `keep-alive` or `close`. */
export function namedByConnection(connection: string | undefined): readonly string[] | undefined {
  if (connection === undefined || /^\s*(keep-alive|close)\s*$/i.test(connection)) return undefined;
  return connection.split(',').map((name) => name.trim().toLowerCase());
}

/** Headers that speak of one connection and not of the message (RFC 9110 §7.6.1). */
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

/** What `Connection` names, in lower case, beside what a connection does at its end; undefined when that is nothing. */
export function namedByConnection(connection: string | undefined): readonly string[] | undefined {
  if (connection === undefined || /^\s*(keep-alive|close)\s*$/i.test(connection)) return undefined;
  return connection.split(',').map((name) => name.trim().toLowerCase());
}

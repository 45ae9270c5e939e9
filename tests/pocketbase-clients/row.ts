import type { Cast } from './side.ts';

/** A call that both servers must answer alike. */
export interface Row {
  readonly name: string;
  readonly run: (cast: Cast) => Promise<unknown>;
  /** Why our answer differs; none for an equal one. */
  readonly differs?: string;
}

/** Sends a request without the client, which would change or refuse it. Returns status and body. */
export async function raw(
  { url }: Pick<Cast, 'url'>,
  method: string,
  path: string,
  options: { readonly body?: unknown; readonly headers?: Record<string, string> } = {},
): Promise<unknown> {
  const { body, headers = {} } = options;
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, body: text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text };
}

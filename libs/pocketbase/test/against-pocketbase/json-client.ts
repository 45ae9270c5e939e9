/** An answer's status and its body, `{}` if it has none. */
export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export type Send = (method: string, path: string, body?: unknown, token?: string) => Promise<Answer>;

/** Sends JSON to a server. */
export const createSend =
  (url: string): Send =>
  async (method, path, body, token) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? {} : JSON.parse(text) };
  };

/** Sends a request that must succeed. */
export async function demand(send: Send, ...request: Parameters<Send>): Promise<Answer['body']> {
  const { status, body } = await send(...request);
  if (status >= 300)
    throw new Error(`${request[0]} ${request[1]} ${JSON.stringify(request[2])}: ${status} ${JSON.stringify(body)}`);
  return body;
}

/** The product's API as the first admin. */
export interface AdminApi {
  /** Returns the answer's `data`. Throws the answer's text if it is not a success. */
  call<T>(method: string, path: string, body?: unknown): Promise<T>;
}

/** Creates a new stack's first admin. */
export async function signInFirstAdmin(url: string, setupToken: string): Promise<AdminApi> {
  const account = { email: 'bench@example.com', password: 'a bench needs no secret' };
  const { token } = await send<{ token: string }>(url, undefined, 'POST', '/api/v1/admin/setup', {
    token: setupToken,
    ...account,
  });
  return { call: <T>(method: string, path: string, body?: unknown) => send<T>(url, token, method, path, body) };
}

async function send<T>(
  url: string,
  token: string | undefined,
  method: string,
  path: string,
  body: unknown,
): Promise<T> {
  const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
  const response = await fetch(`${url}${path}`, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return JSON.parse(text).data;
}

/** An OpenAPI document, as far as the page changes it. */
export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** An operation of the document. */
export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema?: Schema }>> };
  readonly [member: string]: unknown;
}

/** A JSON Schema of the document. */
export type Schema = Readonly<Record<string, unknown>>;

interface ReadDocument {
  readonly document?: OpenApi;
  /** The token with which it was read. */
  readonly token: string | undefined;
  /** What the page says about it. */
  readonly text: string;
}

/** Reads the document with a token, or without one where the token is refused. */
export async function readDocument(token: string | undefined): Promise<ReadDocument> {
  const guest = await request(undefined);
  const own = token === undefined ? undefined : await request(token);
  // A token that is not valid gets the document of a guest (http §12.4). Where everything is public, so do the others.
  if (own?.ok && (tagOf(own) !== tagOf(guest) || (await isValid(token))))
    return { document: await own.json(), token, text: 'What the holder of the token may use.' };
  if (!guest?.ok) return { token: undefined, text: 'The document cannot be read now.' };
  const text = token === undefined ? 'What anyone may use.' : 'The token is not valid. This is what anyone may use.';
  return { document: await guest.json(), token: undefined, text };
}

/** A token of any kind is known to a route that only admins may call, though it may refuse the caller. */
const isValid = async (token: string | undefined): Promise<boolean> => {
  const answer = await request(token, '/api/v1/admin/me');
  return answer?.ok === true || answer?.status === 403;
};

const request = (token: string | undefined, path = '/api/v1/openapi.json'): Promise<Response | undefined> =>
  fetch(path, {
    headers: token === undefined ? {} : { Authorization: `Bearer ${token}` },
  }).catch(() => undefined);

const tagOf = (response: Response | undefined): string | null | undefined => response?.headers.get('etag');

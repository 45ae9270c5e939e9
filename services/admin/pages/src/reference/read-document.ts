/** The parts of an OpenAPI document that the page reads or changes. */
export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** An operation in the document. */
export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema?: Schema }>> };
  readonly [member: string]: unknown;
}

/** A JSON Schema in the document. */
export type Schema = Readonly<Record<string, unknown>>;

interface ReadDocument {
  readonly document?: OpenApi;
  /** The token that it was read with. */
  readonly token: string | undefined;
  /** The page's status text. */
  readonly text: string;
}

/** Reads the document with a token, or as a guest if the token is refused. */
export async function readDocument(token: string | undefined): Promise<ReadDocument> {
  const guest = await request(undefined);
  const own = token === undefined ? undefined : await request(token);
  // An invalid token gets the guest document (http §12.4). If everything is public, so does a valid one.
  if (own?.ok && (tagOf(own) !== tagOf(guest) || (await isValid(token))))
    return { document: await own.json(), token, text: 'Operations available to this token.' };
  if (!guest?.ok) return { token: undefined, text: 'The document could not be loaded. Reload to try again.' };
  const text =
    token === undefined
      ? 'Operations available to guests.'
      : 'This token is not valid. Showing operations available to guests.';
  return { document: await guest.json(), token: undefined, text };
}

/** Whether a token is valid. A route for admins answers 403 to other callers with a valid token, otherwise 401. */
const isValid = async (token: string | undefined): Promise<boolean> => {
  const answer = await request(token, '/api/v1/admin/me');
  return answer?.ok === true || answer?.status === 403;
};

const request = (token: string | undefined, path = '/api/v1/openapi.json'): Promise<Response | undefined> =>
  fetch(path, {
    headers: token === undefined ? {} : { Authorization: `Bearer ${token}` },
  }).catch(() => undefined);

const tagOf = (response: Response | undefined): string | null | undefined => response?.headers.get('etag');

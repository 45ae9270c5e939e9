import { is, Matcher } from './matching.ts';

const refusal = (status: number, code: unknown, more: object = {}) => ({
  status,
  json: { error: is.text, code, ...more },
});

/** Expected answers to refused requests, in the error shape (http §4.1). */
export const refused = {
  malformed: refusal(400, 'malformed_request'),
  /** 400 with details. */
  malformedWith: (details: object) => refusal(400, is.code, { details }),
  duplicate: { status: 400, json: is.containing({ error: is.text, code: is.code }) },
  /** 401 that is not about the request's token, but about a password or a one-time token. */
  invalidCredentials: refusal(401, is.code),
  unauthenticated: { ...refusal(401, 'unauthenticated'), headers: { 'www-authenticate': is.matching(/^Bearer/) } },
  forbidden: refusal(403, is.code),
  /** 403 that names exactly these members. */
  forbiddenIn: (...members: readonly string[]) =>
    refusal(403, is.code, { details: Object.fromEntries(members.map((member) => [member, is.text])) }),
  notFound: refusal(404, 'not_found'),
  methodNotAllowed: (allow: string) => ({ ...refusal(405, 'method_not_allowed'), headers: { allow } }),
  tooLarge: refusal(413, 'payload_too_large'),
  unsupported: refusal(415, 'unsupported_media_type'),
  /** 422 that names exactly these fields. */
  invalid: (...fields: readonly string[]) => ({
    status: 422,
    json: {
      error: 'validation failed',
      code: 'validation_failed',
      details: Object.fromEntries(fields.map((field) => [field, is.text])),
    },
  }),
  /** 422 with exactly these details. */
  because: (details: Readonly<Record<string, string>>) => ({
    status: 422,
    json: { error: 'validation failed', code: 'validation_failed', details },
  }),
  /** 422 with a detail whose key or message contains the word. */
  naming: (word: string) => ({
    status: 422,
    json: {
      error: 'validation failed',
      code: 'validation_failed',
      details: new Matcher(`details that name ${word}`, (details) => JSON.stringify(details ?? '').includes(word)),
    },
  }),
  conflict: refusal(409, is.code),
};

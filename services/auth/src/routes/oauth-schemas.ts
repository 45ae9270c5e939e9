import { mapOf } from '@recordbus/http/map-of';
import { boundedText } from '@recordbus/text/bounded-text';
import { z } from 'zod';
import { text } from './auth-paths.ts';

/** A value that is passed unchanged in a provider's URL or to its token endpoint. */
const value = (maxLength: number) =>
  boundedText(maxLength)
    .min(1, 'is required')
    .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'must not contain control characters');

const provider = value(64);
const state = value(1024);

/** Absolute and without a fragment (RFC 6749 §3.1.2); apps have their own schemes (RFC 8252 §7.1). */
const redirectUri = value(2048).refine(
  (uri) => URL.canParse(uri) && !uri.includes('#') && !/^(?:javascript|data|vbscript):/i.test(uri),
  'must be an absolute URL without a fragment',
);

/** RFC 7636 §4.2: a SHA-256. */
const codeChallenge = text.regex(/^[A-Za-z0-9_-]{43}$/, "must be an S256 challenge's 43 characters");
/** RFC 7636 §4.1. */
const codeVerifier = text.regex(/^[A-Za-z0-9._~-]{43,128}$/, 'must have 43 to 128 characters from A-Z a-z 0-9 - . _ ~');

/** Authorize's query. The caller sends a challenge or lets the service keep the verifier, but not both. */
export const authorizeQuery = z
  .object({
    provider,
    redirectUri: redirectUri.meta({ format: 'uri' }),
    state,
    use_pkce: z.enum(['0', '1'], 'must be 1').optional(),
    code_challenge: codeChallenge.optional(),
    code_challenge_method: z.literal('S256', 'must be S256').optional(),
  })
  .superRefine(({ use_pkce, code_challenge, code_challenge_method }, context) => {
    const refuse = (name: string, message: string) => context.addIssue({ code: 'custom', path: [name], message });
    if (code_challenge !== undefined && use_pkce === '1') refuse('use_pkce', 'cannot be combined with code_challenge');
    if (code_challenge !== undefined && code_challenge_method === undefined)
      refuse('code_challenge_method', 'is required with code_challenge, and must be S256');
    if (code_challenge === undefined && code_challenge_method !== undefined)
      refuse('code_challenge', 'is required with code_challenge_method');
  })
  .transform(({ provider, redirectUri, state, use_pkce, code_challenge }) => ({
    provider,
    redirectUri,
    state,
    usePkce: use_pkce === '1',
    codeChallenge: code_challenge,
  }));

/** Exchange's body. */
export const exchangeBody = z
  .object({
    provider,
    code: value(4096),
    redirectUri,
    state: state.optional(),
    code_verifier: codeVerifier.optional(),
    record: mapOf(z.unknown()).default({}).describe("the user's fields, for a new user"),
  })
  .transform(({ code_verifier: codeVerifier, state, ...rest }) => ({ ...rest, state, codeVerifier }));

/** Merge-confirm's body. */
export const mergeBody = z
  .object({ merge_token: text.min(1, 'is required'), password: text.optional() })
  .transform(({ merge_token: mergeToken, password }) => ({ mergeToken, password }));

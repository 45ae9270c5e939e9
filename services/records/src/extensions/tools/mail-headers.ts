import { boundedText } from '@recordbus/text/bounded-text';
import { z } from 'zod';

/** How long a value may be. `References` has an id for each mail of a thread. */
const maxLength = 998;
const maxReferencesLength = 8000;
const maxHeaders = 30;

/** Headers that members of the mail make, that the mail server adds, or that say how a mail is encoded. */
const refused =
  /^(from|sender|to|cc|bcc|reply-to|subject|date|return-path|received|mime-version|content-.*|resent-.*|dkim-.*|domainkey-.*|arc-.*|authentication-results|received-spf|x-google-dkim-.*)$/i;

/** RFC 5322 §2.2, without the rare characters. */
const headerName = boundedText(76).regex(/^[A-Za-z0-9][A-Za-z0-9_-]*$/, 'is not a header name');

/** No control character, so no value begins another header or ends the head. */
const headerValue = boundedText(maxReferencesLength).regex(
  /^[^\p{Cc}\u2028\u2029\ud800-\udfff]*$/u,
  'must be one line without control characters',
);

/** RFC 5322 §3.6.4, the form that programs write. */
const messageId = /^<[^\s<>@]{1,200}@[^\s<>@]{1,200}>$/;
const messageIds = /^(?:<[^\s<>@]{1,200}@[^\s<>@]{1,200}>\s?)+$/;

const idHeaders: Readonly<Record<string, RegExp>> = {
  'message-id': messageId,
  'in-reply-to': messageIds,
  references: messageIds,
};

/** Why a header may not be set; undefined for one that may. */
function findHeaderProblem(name: string, value: string): string | undefined {
  const lower = name.toLowerCase();
  if (refused.test(name)) return 'cannot be set as a header';
  if (lower !== 'references' && value.length > maxLength) return `has more than ${maxLength} characters`;
  const ids = idHeaders[lower];
  if (ids && !ids.test(value)) return 'must be message ids like <id@example.com>';
  return undefined;
}

/** A mail's more headers, by name (mail §5.3). */
export const mailHeaders = z
  .record(z.string(), headerValue)
  .default({})
  .superRefine((headers, context) => {
    const names = Object.keys(headers);
    const refuse = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message });
    if (names.length > maxHeaders) refuse([], `may have at most ${maxHeaders} headers`);
    if (new Set(names.map((name) => name.toLowerCase())).size < names.length) refuse([], 'has a header twice');
    for (const [name, value] of Object.entries(headers).slice(0, maxHeaders)) {
      const isName = headerName.safeParse(name).success;
      const problem = isName ? findHeaderProblem(name, value) : 'is not a header name';
      if (problem) refuse([name.slice(0, 80)], problem);
    }
  });

import { wholeNumber } from '@recordbus/shared/config';
import { setting, settingGroup, unsetSetting } from './setting.ts';
import { commaList, flag } from './text-schemas.ts';

const yearSec = 31_536_000;
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Returns the origin as browsers send it (RFC 6454 §6.2); undefined for a text that is not an origin. */
function normalizeOrigin(text: string): string | undefined {
  if (text === '*') return text;
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@*]+$/i.test(text)) return undefined;
  const url = URL.parse(text);
  if (!url) return undefined;
  // In the URL standard only http and https have an origin; apps in a web view use other schemes.
  return /^https?:$/.test(url.protocol) ? url.origin : text.toLowerCase();
}

const origins = listOf(
  normalizeOrigin,
  'is not an origin: write * or scheme://host[:port], as in https://app.example.com',
).describe('origins as https://app.example.com, or *');

const methodList = listOf(
  (text) => methods.find((method) => method === text.toUpperCase()),
  `is not one of the methods ${methods.join(', ')}`,
).describe(`some of ${methods.join(', ')}`);

/** Header names are tokens (RFC 9110 §5.1). */
const headerList = listOf(
  (text) => (/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(text) ? text : undefined),
  'is not a header name',
).describe('header names');

function listOf(normalize: (entry: string) => string | undefined, complaint: string) {
  return commaList.transform((entries, context): readonly string[] => {
    const found = entries.map(normalize);
    const bad = entries[found.indexOf(undefined)];
    if (bad !== undefined) context.addIssue({ code: 'custom', message: `"${bad}" ${complaint}` });
    return found.filter((entry) => entry !== undefined);
  });
}

const noOrigins: readonly string[] = [];

export const cors = settingGroup('CORS', ['gateway'], {
  'cors.origins': unsetSetting(origins, noOrigins, 'Comma-separated origins, or *; empty blocks every other origin.'),
  'cors.methods': setting(
    methodList,
    'GET,POST,PUT,PATCH,DELETE,OPTIONS',
    'Comma-separated methods that a preflight allows.',
  ),
  'cors.headers': setting(
    headerList,
    'Authorization,Content-Type,If-Match,X-Service-Idempotency-Key',
    'Comma-separated request headers that a preflight allows, in addition to If-None-Match, Idempotency-Key, Last-Event-ID and X-Service-Consistency.',
  ),
  'cors.credentials': setting(flag, '0', 'Send Access-Control-Allow-Credentials: true.'),
  'cors.max_age': setting(
    wholeNumber(0, yearSec),
    '600',
    'How long a browser may keep a preflight answer, in seconds.',
  ),
});

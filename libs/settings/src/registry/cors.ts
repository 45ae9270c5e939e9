import { wholeNumber } from '@recordbus/process/config';
import { normalizeOrigin, wildcardProblem } from './origin.ts';
import { setting, settingGroup, unsetSetting } from './setting.ts';
import { commaList, flag } from './text-schemas.ts';

const yearSec = 31_536_000;
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Comma-separated origins, as browsers name them. */
export const origins = listOf(
  normalizeOrigin,
  (text) => wildcardProblem(text) ?? 'is not an origin: write * or scheme://host[:port], as in https://app.example.com',
).describe('origins as https://app.example.com, https://*.example.com or http://localhost:*, or *');

const methodList = listOf(
  (text) => methods.find((method) => method === text.toUpperCase()),
  () => `is not one of the methods ${methods.join(', ')}`,
).describe(`some of ${methods.join(', ')}`);

/** Header names are tokens (RFC 9110 §5.1). */
const headerList = listOf(
  (text) => (/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(text) ? text : undefined),
  () => 'is not a header name',
).describe('header names');

function listOf(normalize: (entry: string) => string | undefined, complaint: (entry: string) => string) {
  return commaList.transform((entries, context): readonly string[] => {
    const found = entries.map(normalize);
    const bad = entries[found.indexOf(undefined)];
    if (bad !== undefined) context.addIssue({ code: 'custom', message: `"${bad}" ${complaint(bad)}` });
    return found.filter((entry) => entry !== undefined);
  });
}

const noOrigins: readonly string[] = [];

export const cors = settingGroup('CORS', ['gateway'], {
  'cors.origins': unsetSetting(
    origins,
    noOrigins,
    'Comma-separated origins, with * for one label or the port, or * for all; empty blocks every other origin.',
  ),
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

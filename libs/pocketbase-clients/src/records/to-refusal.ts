import type { Collection, RuleName } from '@recordbus/schema';
import { memberRefusal } from '../member-codes.ts';
import { isObject, type JsonAnswer } from '../product.ts';
import { badRequest, invalid, type MemberRefusals, mismatch, notFound, Refusal, superusersOnly } from '../refusal.ts';

const writeFailures: Readonly<Record<'create' | 'update' | 'delete', string>> = {
  create: 'Failed to create record.',
  update: 'Failed to update record.',
  delete: 'Failed to delete record. Make sure that the record is not part of a required relation reference.',
};

/** Translates a refusal of a read or write. A rule that does not hold hides the record: 404, or 400 for a create. */
export function toRecordRefusal(answer: JsonAnswer, action: RuleName, collection: Collection): Refusal {
  const { status, json } = answer;
  const isWrite = action !== 'list' && action !== 'view';
  const general = toGeneralRefusal(answer);
  if (general) return general;
  if (status === 404) return notFound();
  if (status === 401 || status === 403) {
    if (collection.rules[action] === '') return superusersOnly();
    if (action === 'list') return badRequest();
    if (action !== 'create' && !isObject(json.details)) return notFound();
  }
  if (status === 405) return superusersOnly();
  if (!isWrite) return badRequest();
  // Only a create with an id has a condition: that there is no such record.
  if (status === 412) return new Refusal(400, writeFailures.create, { id: memberRefusal('is already taken') });
  const data = status === 403 ? closedMembers(json.details) : memberRefusals(json.details);
  return new Refusal(400, writeFailures[action], action === 'delete' ? {} : data);
}

/**
 * Refusals that are the same for every route; undefined for others. One for a captcha names the captcha (auth §10.1), also where
 * other refusals are hidden.
 */
export function toGeneralRefusal({
  status,
  json: { code, details } = {},
}: Pick<JsonAnswer, 'status'> & Partial<JsonAnswer>): Refusal | undefined {
  if (code === 'captcha_required' || code === 'captcha_failed') return invalid(memberRefusals(details));
  if (status === 429) return new Refusal(429, 'Too Many Requests.');
  if (status === 413) return new Refusal(413, 'Request entity too large.');
  return status >= 500 ? new Refusal(status, 'Something went wrong while processing your request.') : undefined;
}

/** Members that have another name in PocketBase. */
const theirs: Readonly<Record<string, string>> = { old_password: 'oldPassword' };

/** Translates a refusal's `details`. */
export function memberRefusals(details: unknown): MemberRefusals {
  if (!isObject(details)) return {};
  return Object.fromEntries(
    Object.entries(details).flatMap(([name, sentence]): [string, unknown][] => {
      if (typeof sentence !== 'string') return [];
      const member = theirs[name] ?? name;
      if (member === 'oldPassword' && sentence === 'is wrong')
        return [[member, { code: 'validation_invalid_old_password', message: 'Missing or invalid old password.' }]];
      return [[member, memberRefusal(sentence)]];
    }),
  );
}

/** Members that the caller may not write. A new address without the old password is one of them. */
export const closedMembers = (details: unknown): MemberRefusals =>
  isObject(details)
    ? Object.fromEntries(Object.keys(details).map((name) => [name === 'old_password' ? 'email' : name, mismatch]))
    : {};

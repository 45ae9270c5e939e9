import type { Query } from '@recordbus/database';
import { AppError, validationFailed } from '@recordbus/errors';
import { type Collection, tableOf } from '@recordbus/schema';
import { isRecordId } from '../record/record-id.ts';
import { type Call, passesRules } from '../rules/rule-context.ts';

/** Longer lists are left to the statement. */
const maxIds = 100;

/**
 * Adds the relations to no record to a 422, which the statement would find only once everything else is right. Only for
 * callers who pass the rules: others get to know related records only by a write that the rules admit.
 */
export async function withMissingTargets(
  refusal: unknown,
  query: Query,
  collection: Collection,
  body: Readonly<Record<string, unknown>>,
  call: Call,
): Promise<unknown> {
  if (!(refusal instanceof AppError) || refusal.status !== 422 || !passesRules(call, collection, 'write'))
    return refusal;
  const problems: Record<string, string> = Object.fromEntries(
    Object.entries(refusal.details ?? {}).map(([name, message]) => [name, String(message)]),
  );
  const named = Object.keys(problems).length;
  for (const { name, type, collection: targetName } of collection.fields) {
    if (type !== 'relation' || Object.hasOwn(problems, name)) continue;
    const target = call.schema.findCollection(targetName ?? '');
    const ids = idsIn(body[name]);
    if (!target || target.type === 'view' || ids.length === 0) continue;
    const found = await query<{ id: string }>({
      text: `select id from ${tableOf(target)} where id = any($1::text[])`,
      values: [ids],
    });
    if (found.length < ids.length) problems[name] = 'refers to no record';
  }
  return Object.keys(problems).length > named ? validationFailed(problems) : refusal;
}

/** A relation's ids; none if the list is too long, or something in it is no id. */
function idsIn(value: unknown): string[] {
  const values = new Set([value].flat());
  if (values.size > maxIds) return [];
  const ids = [...values].filter((one): one is string => typeof one === 'string' && isRecordId(one));
  return ids.length === values.size ? ids : [];
}

import { answerOf } from '@recordbus/journal';
import type { FieldAccess, Parameters } from '@recordbus/query';
import type { Collection } from '@recordbus/schema';
import { etagSql } from '../record/etag.ts';
import { type CompileContext, compileCondition } from '../rules/compile-rule.ts';
import { isOpen } from '../rules/field-rules.ts';
import { everything, selectedColumns } from './field-selection.ts';
import { objectText, shownMembers } from './shown-members.ts';

/** The record in a write's answer, in SQL. */
export interface WrittenJson {
  /** The record, in the row `s`. */
  readonly text: string;
  /** A FROM item: the row `s` with the written record, or none. */
  readonly from: string;
}

/**
 * Composes the record for a write's answer, from the CTEs `shown` and `new`. Without field rules it is the JSON that
 * the event has. With rules it is the JSON that a get would return after the write (fields §5.3).
 */
export function writtenJson(
  collection: Collection,
  view: FieldAccess,
  { parameters, ...context }: CompileContext & { readonly parameters: Parameters },
): WrittenJson {
  if (isOpen(view)) return { text: answerOf(collection, 's'), from: 'shown s' };
  const columns = selectedColumns(collection, everything, view);
  const { from, conditional } = shownMembers({ columns, view }, 'n', parameters, (rule) =>
    compileCondition(rule, collection, context, { row: 'n', parameters }),
  );
  const text = objectText(conditional);
  return {
    text: 's.visible',
    from: `(select w.id, w.version, ${text} as visible from shown w join new n on n.id = w.id ${from}) s`,
  };
}

/** A write's answer as SQL. */
export const bodyOf = ({ text }: WrittenJson): string => `'{"data":' || ${text} || '}'`;

/** The answer as an idempotency key keeps it. */
export const keptForm = (status: 200 | 201, shown: WrittenJson) => ({
  status,
  etag: etagSql('s.version'),
  json: bodyOf(shown),
  from: shown.from,
});

import type { Statement } from '@recordbus/database';
import { createNamedParameters } from '@recordbus/query';
import { type Collection, tableOf } from '@recordbus/schema';
import { compileListParts } from '../../read/list-parts.ts';
import type { RuleContext } from '../../rules/rule-context.ts';
import { limitedText } from '../../shape/answer-limit.ts';
import { selectedColumns } from '../../shape/field-selection.ts';
import { isOpenEnded, type Projection } from '../../shape/record-json.ts';
import { columnList } from '../../shape/related-records.ts';
import type { ExportRequest } from './export-query.ts';

/** An export's statement, with its members. */
export interface ComposedExport {
  /** Its only column is each record's JSON text. */
  readonly statement: Statement;
  readonly projection: Projection;
  /** The members that a record may have, in its JSON's order. */
  readonly members: readonly string[];
}

interface ExportContext extends RuleContext {
  /** How many bytes one record may have. */
  readonly maxBytes: number;
}

/** Composes an export of the records that the list rule and the filter admit. Throws 400 as a list does. */
export function composeExport(
  collection: Collection,
  request: Pick<ExportRequest, 'filter' | 'sort' | 'fields' | 'expand'>,
  { maxBytes, ...context }: ExportContext,
): ComposedExport {
  const parameters = createNamedParameters<{ readonly maxBytes: number }>();
  const { condition, sort, projection, record } = compileListParts(collection, request, { parameters, ...context });
  const isLimited = request.expand !== undefined || isOpenEnded(collection);
  const json = isLimited ? limitedText(record.text, { maxBytes: parameters.named('maxBytes', 'bigint') }) : record.text;
  const text = `select ${json} as json from (
  select ${columnList(record.columns, 't')}
  from ${tableOf(collection)} t${sort.joins && ` ${sort.joins}`}${condition === undefined ? '' : ` where ${condition}`}
  order by ${sort.orderBy}
) p ${record.from}`;
  return {
    statement: { text, values: parameters.valuesFrom({ maxBytes }, context.request) },
    projection,
    members: membersOf(projection),
  };
}

function membersOf({ collection, selection, view, expansions }: Projection): readonly string[] {
  const columns = selectedColumns(collection, selection, view).map(({ name }) => name);
  return expansions && selection.member('expand') ? [...columns, 'expand'] : columns;
}

import type { Collection } from '@recordbus/schema';
import { viewOf } from '../rules/field-rules.ts';
import type { RuleContext } from '../rules/rule-context.ts';
import { readExpand } from './expansion.ts';
import { readFieldSelection } from './field-selection.ts';
import type { Projection } from './record-json.ts';

/** What a client wants to see of a record, as its query says it. */
interface Shown {
  readonly fields?: string | undefined;
  readonly expand?: string | undefined;
}

/** Reads what an answer shows of each record. Throws 400 for an invalid `expand`. */
export const readProjection = (
  collection: Collection,
  { fields, expand }: Shown,
  context: Pick<RuleContext, 'principal' | 'schema'>,
): Projection => ({
  collection,
  selection: readFieldSelection(fields),
  view: viewOf(collection, context),
  expansions: expand === undefined ? undefined : readExpand(expand, collection, context),
});

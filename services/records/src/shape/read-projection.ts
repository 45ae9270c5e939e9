import type { Collection } from '@recordbus/schema';
import { viewOf } from '../rules/field-rules.ts';
import type { RuleContext } from '../rules/rule-context.ts';
import { readExpand } from './expansion.ts';
import { readFieldSelection } from './field-selection.ts';
import type { Projection } from './record-json.ts';

/** The query parameters that select which parts of a record are shown. */
interface Shown {
  readonly fields?: string | undefined;
  readonly expand?: string | undefined;
}

/** Reads the projection for an answer's records. Throws 400 for an invalid `expand`. */
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

import {
  composeWrite,
  newValue,
  nextRevision,
  nextUpdatedAt,
  nowSec,
  type Origin,
  type WriteStatement,
} from '@recordbus/journal';
import { type Collection, quoteIdentifier } from '@recordbus/schema';
import type { CallerSql, SentNames } from '../record/caller-sql.ts';
import { writtenJson } from '../shape/written-json.ts';
import { lastVersions } from '../write/last-versions-sql.ts';
import { type GivenRows, givenRows } from './given-rows.ts';
import { holdsFor } from './holds-for.ts';

/** What a statement with several creates has in addition to the fields. */
interface CreateOptions {
  /** Whether the client chose the ids, so records with them may exist or have existed. */
  readonly isPlaced: boolean;
}

/**
 * The statement for several creates. Rules are conditions on the rows `draft`; a record for which a rule does not hold
 * is not written. It returns a row for each written record.
 */
export const composeCreateSeveral = (
  collection: Collection,
  caller: CallerSql,
  { isPlaced }: CreateOptions,
): WriteStatement<Origin & GivenRows & SentNames> =>
  composeWrite((parameters) => {
    const given = givenRows(collection, parameters, { withValues: true });
    const columns = [
      { name: 'id', value: 'g.id' },
      { name: 'created_at', value: isPlaced ? nextUpdatedAt('last') : nowSec },
      { name: 'updated_at', value: isPlaced ? nextUpdatedAt('last') : nowSec },
      ...(isPlaced ? [{ name: '_revision', value: `coalesce(${nextRevision('last')}, 0)` }] : []),
      ...collection.fields.map((field) => ({
        name: quoteIdentifier(field.name),
        value: newValue(field, given.valueOf(field)),
      })),
    ];
    const where = holdsFor(caller.verdictOn({ row: 'draft' }, parameters));
    const shown = writtenJson(collection, caller.view, { ...caller.context, parameters });
    const rows = {
      columns,
      from: `given g${isPlaced ? ' join last on last.id = g.id and not last.is_there' : ''}`,
      check: { where },
      skips: isPlaced ? '(id)' : undefined,
    };
    return {
      before: [given.cte, isPlaced ? lastVersions(collection, 'array(select distinct id from given)') : undefined],
      writes: [{ collection, verb: 'create', rows, places: 'given' }],
      answer: `select s.id, '{"data":' || ${shown.text} || '}' as body, s.version from ${shown.from}`,
    };
  });

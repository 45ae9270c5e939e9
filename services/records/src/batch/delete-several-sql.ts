import { composeWrite, type Origin, type WriteStatement } from '@recordbus/journal';
import type { Collection } from '@recordbus/schema';
import type { CallerSql, SentNames } from '../record/caller-sql.ts';
import { type GivenRows, givenRows } from './given-rows.ts';
import { holdsFor } from './holds-for.ts';
import { admitsVersion, admittedRows, lockedRows } from './locked-rows.ts';

/** The statement for several deletes without references to the records. It returns a row for each deleted record. */
export const composeDeleteSeveral = (
  collection: Collection,
  caller: CallerSql,
): WriteStatement<Origin & GivenRows & SentNames> =>
  composeWrite((parameters) => {
    const given = givenRows(collection, parameters, { withValues: false });
    const condition = holdsFor(caller.verdictOn({ row: 'old', stored: 'old' }, parameters));
    const rows = { using: `old${admittedRows}`, where: `t.id = old.id and ${admitsVersion}` };
    return {
      before: [given.cte, ...lockedRows(collection, parameters.named('ids', 'text[]'), condition)],
      writes: [{ collection, verb: 'delete', rows, places: 'given' }],
      answer: 'select s.id from shown s',
    };
  });

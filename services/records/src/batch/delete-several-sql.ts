import { composeWrite, type Origin, type WriteStatement } from '@recordbus/journal';
import { type Collection, tableOf } from '@recordbus/schema';
import type { CallerSql, SentNames } from '../record/caller-sql.ts';
import { type GivenRows, givenRows } from './given-rows.ts';
import { holdsFor } from './holds-for.ts';
import { admitsVersion, lockedRows } from './locked-rows.ts';

/** The statement of several deletes without references to the records. It returns a row for each deleted record. */
export const composeDeleteSeveral = (
  collection: Collection,
  caller: CallerSql,
): WriteStatement<Origin & GivenRows & SentNames> =>
  composeWrite((parameters) => {
    const given = givenRows(collection, parameters, { withValues: false });
    const condition = holdsFor(caller.verdictOn({ row: 'old', stored: 'old' }, parameters));
    const write = `delete from ${tableOf(collection)} t
  using old join admitted on admitted.id = old.id join given g on g.id = old.id
  where t.id = old.id and ${admitsVersion}
  returning t.*`;
    return {
      before: [given.cte, ...lockedRows(collection, parameters.named('ids', 'text[]'), condition)],
      writes: [{ collection, verb: 'delete', write, places: 'given' }],
      answer: 'select s.id from shown s',
    };
  });

import { modeOfDelete } from '../delete/delete-mode.ts';
import { perCaller } from '../record/caller-sql.ts';
import { prepareWrite } from '../record/prepared.ts';
import { isRecordId } from '../record/record-id.ts';
import { addChangeWork } from '../write/after-commit.ts';
import { composeDeleteSeveral } from './delete-several-sql.ts';
import type { EqualOperations } from './equal-operations.ts';
import { givenOf, hasOneVersion } from './given-of.ts';
import { isBlind } from './is-blind.ts';

const statementOf = perCaller('delete', (collection, caller) =>
  prepareWrite('delete several', composeDeleteSeveral(collection, caller)),
);

/** Deletes without hooks, for records to which no relation can refer. */
export const equalDeletes: EqualOperations = {
  kindOf({ collection, id = '', call, operation }, rules) {
    if (modeOfDelete(collection, rules) !== 'statement' || !isRecordId(id)) return undefined;
    return hasOneVersion(operation) && isBlind('delete', collection, call) ? '' : undefined;
  },

  async run(unit, ready) {
    const [{ collection, call }] = ready;
    const { valuesFrom, ...statement } = statementOf(collection, { call, sent: [] });
    const given = { ...givenOf(ready), columns: new Map(), sent: [] };
    const deleted = await unit.query({ ...statement, values: valuesFrom(given, call.request) });
    if (deleted.length < ready.length) return undefined;
    addChangeWork(unit, collection);
    return ready.map(() => ({ status: 200, body: undefined, version: undefined }));
  },
};

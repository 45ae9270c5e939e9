import { inSlices } from '@recordbus/shared/time-slice';
import { perCaller } from '../record/caller-sql.ts';
import { prepareWrite } from '../record/prepared.ts';
import { conditionalNames, writeOf } from '../rules/field-rules.ts';
import { prepareCreate } from '../write/create-record.ts';
import { composeCreateSeveral } from './create-several-sql.ts';
import type { EqualOperations } from './equal-operations.ts';
import { placesOf } from './given-of.ts';
import { columnsOfRows } from './given-rows.ts';
import { isBlind } from './is-blind.ts';
import { resultsOf, type SeveralRow } from './several-rows.ts';

const statementOf = perCaller('create', (collection, caller) =>
  prepareWrite('create several', composeCreateSeveral(collection, caller)),
);

/** Creates without an id of the client, hooks and files. */
export const equalCreates: EqualOperations = {
  kindOf({ collection, id, body, upload, call }, { hooks }) {
    if (id !== undefined || upload || hooks.find(collection, 'create')) return undefined;
    if (!isBlind('create', collection, call)) return undefined;
    // The names count only where a write rule is asked.
    return conditionalNames(Object.keys(body), writeOf(collection, call)).join();
  },

  async run(unit, ready, rules) {
    const [{ collection, call, body }] = ready;
    const rows: Awaited<ReturnType<typeof prepareCreate>>[] = [];
    for await (const one of inSlices(ready))
      rows.push(await prepareCreate(unit, collection, { body: one.body }, one.call, rules));
    const { valuesFrom, ...statement } = statementOf(collection, { call, sent: Object.keys(body) });
    const given = {
      ...placesOf(ready),
      ids: rows.map(({ id }) => id),
      versions: [],
      columns: columnsOfRows(rows.map(({ fields }) => fields)),
      sent: Object.keys(body),
    };
    const written = await unit.query<SeveralRow>({ ...statement, values: valuesFrom(given, call.request) });
    if (written.length < ready.length) return undefined;
    unit.due.add('wakeRelay');
    return resultsOf(collection, given.ids, written, { status: 201, encryption: rules.encryption });
  },
};

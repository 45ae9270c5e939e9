import { inSlices } from '@recordbus/limits/time-slice';
import type { Collection } from '@recordbus/schema';
import { fileFieldsOf } from '../files/file-changes.ts';
import { type CallerSql, perCaller } from '../record/caller-sql.ts';
import { prepareWrite } from '../record/prepared.ts';
import { readNewId } from '../record/record-id.ts';
import { conditionalNames, writeOf } from '../rules/field-rules.ts';
import { prepareCreate } from '../write/create-record.ts';
import { fieldsWithOperators } from '../write/operators.ts';
import { composeCreateSeveral } from './create-several-sql.ts';
import type { EqualOperations } from './equal-operations.ts';
import { placesOf } from './given-of.ts';
import { columnsOfRows } from './given-rows.ts';
import { isBlind } from './is-blind.ts';
import type { ReadyOperation } from './ready-operation.ts';
import { resultsOf, type SeveralRow } from './several-rows.ts';

const statementFor = (isPlaced: boolean) =>
  perCaller('create', (collection: Collection, caller: CallerSql) =>
    prepareWrite('create several', composeCreateSeveral(collection, caller, { isPlaced })),
  );
const [statementOf, placedStatementOf] = [statementFor(false), statementFor(true)];

/** Creates without hooks and files. */
export const equalCreates: EqualOperations = {
  kindOf(ready, { hooks }) {
    const { collection, id, body, upload, call } = ready;
    if (upload || hooks.find(collection, 'create') || !isBlind('create', collection, call)) return undefined;
    if (id !== undefined && !canBePlaced(ready)) return undefined;
    // The names matter only if a write rule is checked.
    const names = conditionalNames(Object.keys(body), writeOf(collection, call));
    return JSON.stringify([id !== undefined, ...names]);
  },

  async run(unit, ready, rules) {
    const [{ collection, call, body, id }] = ready;
    const rows: Awaited<ReturnType<typeof prepareCreate>>[] = [];
    for await (const one of inSlices(ready))
      rows.push(await prepareCreate(unit, collection, { body: one.body }, one.call, rules));
    const isPlaced = id !== undefined;
    const sent = Object.keys(body);
    const { valuesFrom, ...statement } = (isPlaced ? placedStatementOf : statementOf)(collection, { call, sent });
    const given = {
      ...placesOf(ready),
      ids: isPlaced ? ready.map((one) => readNewId(one.id ?? '')) : rows.map((row) => row.id),
      versions: [],
      columns: columnsOfRows(rows.map(({ fields }) => fields)),
      sent,
    };
    const written = await unit.query<SeveralRow>({ ...statement, values: valuesFrom(given, call.request) });
    if (written.length < ready.length) return undefined;
    unit.due.add('wakeRelay');
    return resultsOf(collection, given.ids, written, { status: 201, encryption: rules.encryption });
  },
};

/**
 * Whether a create with the client's id may be done together with others. It may not if it could refer to a record that
 * a later one creates, if an earlier record's files could be in the way, or if it has operators.
 */
export const canBePlaced = ({ collection, body }: ReadyOperation): boolean =>
  !collection.fields.some((field) => field.collection === collection.name) &&
  fileFieldsOf(collection).length === 0 &&
  fieldsWithOperators(collection, body).length === 0;

import type { Client, RecordJson } from '../harness/clients/client.ts';
import { textAt } from '../harness/json.ts';
import type { Target } from '../harness/stacks/target.ts';
import { fileField } from './file-forms.ts';
import { clientOf, createUsers, signUp } from './users.ts';

/** People with fields that not everyone may view or write. */
export interface Staff {
  readonly users: string;
  readonly clients: Readonly<Record<Role, Client>>;
  readonly ownerId: string;
  readonly boss: RecordJson;
  /** Belongs to the owner. */
  readonly ada: RecordJson;
}

export type Role = 'guest' | 'other' | 'owner' | 'admin';
export const roles: readonly Role[] = ['guest', 'other', 'owner', 'admin'];

const isOwn = 'owner = @request.auth.id';

/** The fields in `staff`: closed ones for admins, conditional ones for the owner, `shift` for all users. */
const staffFields = (users: string) =>
  [
    { name: 'name', type: 'text' },
    { name: 'owner', type: 'relation', collection: users },
    { name: 'salary', type: 'number', view_rule: '' },
    { name: 'mentor', type: 'relation', collection: 'staff', view_rule: '' },
    { name: 'phone', type: 'text', view_rule: isOwn },
    { name: 'pets', type: 'json', view_rule: isOwn },
    { name: 'boss', type: 'relation', collection: 'staff', view_rule: isOwn },
    { name: 'pin', type: 'text', view_rule: isOwn, options: { encrypted: true } },
    { name: 'shift', type: 'text', view_rule: '@request.auth.type = "user"' },
    { name: 'rank', type: 'number', write_rule: '', options: { default: 1 } },
    { name: 'bio', type: 'text', write_rule: isOwn },
    { name: 'photo', type: 'file', collection: undefined, view_rule: isOwn },
    { name: 'traits', type: 'vector', view_rule: isOwn, options: { dimensions: 2 } },
  ].map((field) => (field.type === 'file' ? { ...fileField('photo'), view_rule: isOwn } : field));

/** Creates the collection `staff` with two records, an owner and another user. */
export async function createStaff(target: Target): Promise<Staff> {
  const admin = await target.admin();
  const users = await createUsers(target);
  const fields = staffFields(users);
  await admin.post('/api/v1/collections', { name: 'staff', type: 'base', history_enabled: true, fields });
  const owner = await signUp(target, users, 'owner@example.com');
  const other = await signUp(target, users, 'other@example.com');
  const ownerId = textAt(owner, 'record.id');
  const boss = await admin.create('staff', { name: 'Bo', salary: 9, phone: '99', shift: 'late', traits: [0, 1] });
  const ada = await admin.create('staff', {
    name: 'Ada',
    owner: ownerId,
    salary: 5,
    mentor: boss.id,
    phone: '55',
    pets: { cat: 'Tom' },
    boss: boss.id,
    pin: '1234',
    shift: 'early',
    traits: [1, 0],
  });
  const clients = { guest: target.guest, other: clientOf(target, other), owner: clientOf(target, owner), admin };
  return { users, clients, ownerId, boss, ada };
}

const open = ['id', 'name', 'owner', 'rank', 'bio', 'created', 'updated'];
const ofOwner = ['phone', 'pets', 'boss', 'pin', 'photo', 'traits'];

/** The members that each caller sees in the owner's record. */
export const membersFor: Readonly<Record<Role, readonly string[]>> = {
  guest: open,
  other: [...open, 'shift'],
  owner: [...open, 'shift', ...ofOwner],
  admin: [...open, 'shift', ...ofOwner, 'salary', 'mentor'],
};

import { accountAddress } from '@recordbus/schema';
import type { Move } from './move-in.ts';
import type { MoveReport } from './report.ts';
import type { Source } from './source.ts';

/** A superuser of PocketBase, as the admin that it becomes. */
export interface NewAdmin {
  readonly email: string;
  readonly passwordHash: string;
}

/** Adds an admin. Returns false if the address is another admin's. */
export type AddAdmin = (admin: NewAdmin) => Promise<boolean>;

const table = '_superusers';

/** With this superuser PocketBase makes the first one. */
const installer = '__pbinstaller@example.com';

/** The hashes with which admins sign in here (auth §2.2). */
const usableHash = /^\$2[aby]\$(0[4-9]|1[0-4])\$[./A-Za-z0-9]{53}$/;

/** Why superusers are not admins here; undefined if they may be. An admin is never protected worse than before. */
export function whyNoAdmins({ collections, settings }: Source): string | undefined {
  const { mfa, authRule, passwordAuth } = collections.find(({ name }) => name === table)?.options ?? {};
  if (mfa?.enabled) return 'PocketBase asks them for a second factor';
  if (passwordAuth?.enabled === false) return 'they have no passwords in PocketBase';
  if (authRule !== undefined && authRule !== '') return 'a rule of PocketBase decides which of them may sign in';
  if (settings === undefined) return 'the settings cannot be read, which may limit their addresses';
  const { superuserIPs: networks } = settings;
  return Array.isArray(networks) && networks.length > 0 ? 'PocketBase limits the addresses that they use' : undefined;
}

/** Makes admins of the superusers that no earlier run took. Without `add` it only reports them. */
export async function moveSuperusers(
  { source, state }: Pick<Move, 'source' | 'state'>,
  { admins, notes }: Pick<MoveReport, 'admins' | 'notes'>,
  add: AddAdmin | undefined,
): Promise<void> {
  if (!source.hasTable(table) || whyNoAdmins(source) !== undefined) return;
  for (const { id, email, password } of source.rows(table)) {
    const key = `superuser ${String(id)}`;
    // The admin is this stack's own from now on: one that was deleted here does not come back.
    if (email === installer || state.definitionOf(key) !== undefined) continue;
    const risk = (why: string) =>
      notes.push({ collection: table, kind: 'risk', text: `${String(email)} is not an admin here: ${why}` });
    const address = accountAddress.safeParse(email);
    const passwordHash = String(password);
    if (!address.success) risk('the address is not valid');
    else if (!usableHash.test(passwordHash)) risk('the password is hashed in a form that cannot be checked here');
    else if (add && !(await add({ email: address.data, passwordHash }))) risk('an admin has this address already');
    else admins.push(address.data);
    if (add) state.noteDefinition(key, '');
  }
}

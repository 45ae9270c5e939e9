import { type Client, createClient } from '../../harness/clients/client.ts';
import { textAt } from '../../harness/json.ts';
import type { Target } from '../../harness/stacks/target.ts';

/** A signed-in user in `people`. */
export interface Person {
  readonly id: string;
  readonly token: string;
  readonly client: Client;
}

const text = (name: string) => ({ name, type: 'text' });
const relation = (name: string, collection: string) => ({ name, type: 'relation', collection });

export const password = 'correct horse battery staple';

/**
 * Creates the live tests' collections: public `notes`, `tasks` that only their owners see, and `papers` that their
 * team's members see.
 */
export async function createNotes(target: Pick<Target, 'admin'>): Promise<void> {
  const admin = await target.admin();
  const seenBy = (rule: string) => ({ list_rule: rule, view_rule: rule });
  await admin.define('notes', [text('text'), { name: 'rank', type: 'number' }]);
  await admin.define('people', [text('name')], { type: 'auth' });
  await admin.define('tasks', [text('title'), relation('owner', 'people')], seenBy('owner = @request.auth.id'));
  await admin.define('teams', [text('name')]);
  await admin.define('memberships', [relation('user', 'people'), relation('team', 'teams')]);
  const isMember = 'exists(memberships, team = record.team && user = @request.auth.id)';
  await admin.define('papers', [text('title'), relation('team', 'teams')], seenBy(isMember));
}

/** The messages that a test expects. A heartbeat may come between them, because a busy machine takes longer than 15 s. */
export const withoutHeartbeats = <M extends { readonly type: string }>(messages: readonly M[]): readonly M[] =>
  messages.filter(({ type }) => type !== 'heartbeat');

/** Registers a user. */
export async function join(target: Pick<Target, 'url' | 'guest'>, name: string): Promise<Person> {
  const session = await target.guest.post('/api/v1/auth/people/register', { email: `${name}@example.com`, password });
  const token = textAt(session, 'token');
  return { id: textAt(session, 'record.id'), token, client: createClient(target.url, token) };
}

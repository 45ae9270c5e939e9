import { firstAdmin } from '../harness/stacks/stack.ts';
import type { Target } from '../harness/stacks/target.ts';
import { connect, type Side } from './side.ts';
import { type WorldCollection, world } from './world.ts';

const users = {
  name: 'users',
  type: 'auth',
  list_rule: 'id = @request.auth.id',
  view_rule: 'id = @request.auth.id',
  create_rule: null,
  update_rule: 'id = @request.auth.id',
  delete_rule: 'id = @request.auth.id',
  fields: [
    { name: 'email', type: 'email', view_rule: 'id = @request.auth.id || emailVisibility = true' },
    { name: 'emailVisibility', type: 'bool', options: { default: false } },
    { name: 'name', type: 'text', options: { default: '' } },
    { name: 'avatar', type: 'file' },
  ],
};

/** Our stack as PocketBase's clients see it, with the collections as an import makes them. */
export const ourSide = ({ url, admin }: Pick<Target, 'url' | 'admin'>): Side => ({
  url: `${url}/pb`,
  async admin() {
    const client = connect(`${url}/pb`);
    await client.collection('_superusers').authWithPassword(firstAdmin.email, firstAdmin.password);
    return client;
  },
  async prepare() {
    const client = await admin();
    await client.patch('/api/v1/admin/settings', {
      'pocketbase.enabled': '1',
      'rate_limit.enabled': '0',
      'password.min_length': '8',
    });
    for (const definition of [users, ...world.map(toOurs)]) await client.post('/api/v1/collections', definition);
  },
});

/** Null and `""` change places. */
const toRule = (rule: string | null): string | null => (rule === null ? '' : rule === '' ? null : rule);

function toOurs({ name, fields, rules }: WorldCollection) {
  return {
    name,
    list_rule: toRule(rules.list),
    view_rule: toRule(rules.view),
    create_rule: toRule(rules.create),
    update_rule: toRule(rules.update),
    delete_rule: toRule(rules.delete),
    fields: fields
      .filter(({ type }) => type !== 'autodate')
      .map(({ name: field, type, required, hidden, to, min, max, values, maxSelect = 1, protected: isProtected }) => ({
        name: field,
        type,
        ...(required && { required }),
        ...(to && { collection: to }),
        ...(hidden && { view_rule: '', write_rule: '' }),
        options: {
          ...(min !== undefined && { min }),
          ...(max !== undefined && { max }),
          ...(values && { values }),
          ...(maxSelect > 1 && { multiple: true, max: maxSelect }),
          ...(isProtected && { protected: true }),
          ...(type === 'text' && !required && { default: '' }),
        },
      })),
  };
}

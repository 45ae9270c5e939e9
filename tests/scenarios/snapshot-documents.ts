export const apply = '/api/v1/admin/migrations/apply';

const text = (name: string, more: object = {}) => ({ name, type: 'text', ...more });
export const relation = (name: string, collection: string) => ({ name, type: 'relation', collection });

/** Two collections that refer to each other, one to itself, a rule across them, an auth collection, views over views. */
export const shop = [
  {
    name: 'customers',
    type: 'base',
    fields: [
      text('name', { required: true }),
      relation('favourite', 'orders'),
      text('code', { options: { unique: true } }),
    ],
    list_rule: 'favourite.total > 3',
    history_enabled: true,
    indexes: [{ name: 'by_name', columns: ['name', 'created_at'], unique: true }],
  },
  {
    name: 'best_orders',
    type: 'view',
    view_query: 'select o.id, o.total, o.name from named_orders o where o.total > 10',
    list_rule: null,
  },
  {
    name: 'named_orders',
    type: 'view',
    view_query: 'select o.id, o.total, c.name from orders o join customers c on c.id = o.customer',
  },
  {
    name: 'orders',
    type: 'base',
    fields: [
      { name: 'total', type: 'number' },
      relation('customer', 'customers'),
      relation('parent', 'orders'),
      { ...relation('payers', 'customers'), options: { multiple: true, max: 9 } },
    ],
    create_rule: 'customer.name != ""',
    indexes: [{ name: 'in_customer', columns: ['customer'] }],
  },
  { name: 'clerks', type: 'auth', fields: [text('nick')] },
];

export const documentOf = (collections: readonly object[]) => ({ version: 1, generated_at: 0, collections });

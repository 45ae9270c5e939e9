import type { PocketBaseCollection, PocketBaseField, RuleSlot } from '../src/rules/index.ts';

const field = (name: string, type: string, more: Partial<PocketBaseField> = {}): PocketBaseField => ({
  name,
  type,
  ...more,
});
const relation = (name: string, collectionId: string, maxSelect = 1, required = false) =>
  field(name, 'relation', { collectionId, maxSelect, required });
const collection = (name: string, type: string, fields: readonly PocketBaseField[]): PocketBaseCollection => ({
  id: name,
  name,
  type,
  fields: [
    field('id', 'text', { required: true, pattern: '^[a-z0-9]+$' }),
    ...fields,
    field('created', 'autodate'),
    field('updated', 'autodate'),
  ],
});

/** A made-up app's collections, as small teams build them with PocketBase. */
export const appCollections: readonly PocketBaseCollection[] = [
  collection('users', 'auth', [
    field('email', 'email'),
    field('verified', 'bool'),
    field('emailVisibility', 'bool'),
    field('name', 'text'),
    field('role', 'select', { values: ['admin', 'editor', 'member'] }),
    field('banned', 'bool'),
    relation('company', 'companies'),
    relation('friends', 'users', 99),
  ]),
  collection('companies', 'base', [
    field('name', 'text', { required: true }),
    relation('owner', 'users', 1, true),
    relation('members', 'users', 99),
  ]),
  collection('memberships', 'base', [
    relation('user', 'users', 1, true),
    relation('company', 'companies', 1, true),
    field('role', 'select', { values: ['owner', 'editor', 'viewer'] }),
  ]),
  collection('projects', 'base', [
    field('title', 'text', { required: true }),
    field('public', 'bool'),
    field('status', 'select', { values: ['draft', 'open', 'done'] }),
    relation('company', 'companies', 1, true),
    relation('owner', 'users', 1, true),
    relation('team', 'users', 99),
    field('budget', 'number'),
    field('due', 'date'),
  ]),
  collection('tasks', 'base', [
    field('title', 'text'),
    field('done', 'bool'),
    relation('project', 'projects', 1, true),
    relation('assignee', 'users'),
    field('tags', 'select', { values: ['bug', 'idea'], maxSelect: 2 }),
    field('due', 'date'),
    field('meta', 'json'),
  ]),
  collection('comments', 'base', [
    field('text', 'text', { required: true }),
    relation('task', 'tasks', 1, true),
    relation('author', 'users', 1, true),
  ]),
  collection('messages', 'base', [
    field('text', 'text'),
    relation('from', 'users', 1, true),
    relation('to', 'users', 1, true),
    field('read', 'bool'),
  ]),
  collection('invites', 'base', [
    field('email', 'email'),
    field('token', 'text'),
    relation('company', 'companies', 1, true),
    field('expires', 'date'),
  ]),
];

export type AppRule = readonly [collection: string, slot: RuleSlot, text: string | null];

const signedIn = '@request.auth.id != ""';
const read = (name: string, text: string | null): AppRule[] => [
  [name, 'list', text],
  [name, 'view', text],
];
const write = (name: string, text: string | null): AppRule[] => [
  [name, 'update', text],
  [name, 'delete', text],
];
const all = (name: string, text: string | null): AppRule[] => [
  ...read(name, text),
  [name, 'create', text],
  ...write(name, text),
];

/** Rules as such apps have them: most are short, and the same ones come again. */
export const appRules: readonly AppRule[] = [
  ...all('companies', null),
  ...read('projects', ''),
  ...all('users', 'id = @request.auth.id'),
  ...all('tasks', signedIn),
  ...all('projects', 'owner = @request.auth.id'),
  ...write('comments', 'author = @request.auth.id'),
  ...write('comments', 'author.id = @request.auth.id'),
  ...read('users', `${signedIn} && banned = false`),
  ...read('projects', 'public = true || owner = @request.auth.id'),
  ...read('projects', `public = true || (${signedIn} && team.id ?= @request.auth.id)`),
  ...read('projects', 'team ~ @request.auth.id'),
  ...read('projects', 'team.id ?= @request.auth.id || owner = @request.auth.id'),
  ...read('projects', 'status = "open" && due > @now'),
  ...read('projects', 'status != "draft"'),
  ...read('projects', 'due = "" || due >= @todayStart'),
  ...read('projects', 'company = @request.auth.company'),
  ...read('projects', 'company.id = @request.auth.company.id'),
  ...read('projects', '@request.auth.company != "" && company = @request.auth.company'),
  ...read('projects', 'company.owner = @request.auth.id'),
  ...read('projects', 'company.members.id ?= @request.auth.id'),
  ...read('projects', 'company.members ~ @request.auth.id'),
  ...read('projects', '@collection.memberships.user ?= @request.auth.id && @collection.memberships.company ?= company'),
  ...read('projects', '@collection.memberships.user = @request.auth.id && @collection.memberships.company = company'),
  ...read(
    'projects',
    '@collection.memberships.user.id ?= @request.auth.id && @collection.memberships.company.id ?= company.id',
  ),
  ...write(
    'projects',
    '@collection.memberships.user ?= @request.auth.id && @collection.memberships.company ?= company && (@collection.memberships.role ?= "owner" || @collection.memberships.role ?= "editor")',
  ),
  ...read('projects', '@request.auth.memberships_via_user.company ?= company'),
  ...read('companies', 'memberships_via_company.user ?= @request.auth.id'),
  ...write('companies', 'memberships_via_company.user ?= @request.auth.id && memberships_via_company.role ?= "owner"'),
  ...write('companies', 'owner = @request.auth.id'),
  ['companies', 'create', `${signedIn} && owner = @request.auth.id`],
  ['companies', 'create', '@request.body.owner = @request.auth.id'],
  ['companies', 'create', '@request.data.owner = @request.auth.id'],
  ...read('tasks', 'project.owner = @request.auth.id || assignee = @request.auth.id'),
  ...read('tasks', 'project.public = true || project.team.id ?= @request.auth.id'),
  ...read('tasks', 'project.company.members.id ?= @request.auth.id'),
  ...write('tasks', 'project.owner = @request.auth.id'),
  ['tasks', 'create', '@request.body.project.owner = @request.auth.id'],
  ['tasks', 'update', '@request.body.project.owner = @request.auth.id'],
  ['tasks', 'create', 'project.team.id ?= @request.auth.id'],
  ['tasks', 'update', 'assignee = @request.auth.id && @request.body.project:isset = false'],
  ['tasks', 'update', 'assignee = @request.auth.id && @request.body.project:changed = false'],
  [
    'tasks',
    'update',
    `${signedIn} && (@request.body.assignee:isset = false || @request.body.assignee = @request.auth.id)`,
  ],
  ...read('tasks', 'tags ~ "bug"'),
  ...read('tasks', 'tags:each = "bug"'),
  ...read('tasks', 'tags:length > 0'),
  ...read('tasks', 'done = false && due < @now'),
  ...read('tasks', 'meta.open = true'),
  ...read('tasks', 'title ~ "urgent%"'),
  ...read('comments', 'task.project.owner = @request.auth.id || author = @request.auth.id'),
  ...read('comments', 'task.project.public = true'),
  ['comments', 'create', `${signedIn} && author = @request.auth.id`],
  ['comments', 'create', `${signedIn} && @request.body.author = @request.auth.id && @request.body.text != ""`],
  ...read('messages', 'from = @request.auth.id || to = @request.auth.id'),
  ['messages', 'create', 'from = @request.auth.id && to != @request.auth.id'],
  [
    'messages',
    'update',
    'to = @request.auth.id && @request.body.text:isset = false && @request.body.from:isset = false',
  ],
  ...read('messages', 'from.friends ?~ @request.auth.id'),
  ...read('messages', '@request.auth.friends.id ?= from'),
  ...read('users', '@request.auth.role = "admin" || id = @request.auth.id'),
  ...read('users', '@request.auth.role = "admin" || @request.auth.role = "editor"'),
  ...read('users', '@request.auth.role != "member"'),
  ...read('users', '@request.auth.verified = true'),
  ...read('users', '@request.auth.collectionName = "users"'),
  ...read('users', '@request.auth.id = id || emailVisibility = true'),
  ...read('users', 'company = @request.auth.company && company != ""'),
  ['users', 'update', 'id = @request.auth.id && @request.body.role:isset = false'],
  [
    'users',
    'update',
    'id = @request.auth.id && @request.body.role:changed = false && @request.body.banned:changed = false',
  ],
  ['users', 'create', '@request.body.role = "member" || @request.body.role:isset = false'],
  ['users', 'create', '@request.auth.id = ""'],
  ['users', 'auth', 'verified = true'],
  ['users', 'auth', 'verified = true && banned = false'],
  ['users', 'manage', '@request.auth.role = "admin"'],
  ...read('invites', 'email = @request.auth.email'),
  ...read('invites', `${signedIn} && email = @request.auth.email && expires > @now`),
  ...read('invites', 'token = @request.query.token && token != ""'),
  ...read('invites', '@request.query.token != "" && token = @request.query.token'),
  ...read('invites', 'token = @request.headers.x_token'),
  ...write('invites', '@request.auth.id = company.owner'),
  ['invites', 'create', '@request.auth.company.owner = @request.auth.id'],
];

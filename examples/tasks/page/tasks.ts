// Everything that the app does with its stack. The page shows it; the test calls it without a page.
import {
  type Client,
  createClient,
  f,
  type LiveList,
  type SessionStore,
  type SignedIn,
  type SignIn,
} from '@recordbus/client';
import type { Lists, People, Schema, Tasks } from '../recordbus.d.ts';

/** A task in a list, with its file if it has one. */
export type Task = Tasks;

/** A list with its owner and its members. */
export type SharedList = Awaited<ReturnType<TaskApp['lists']>>[number];

/** What the app can do. */
export class TaskApp {
  readonly #client: Client<Schema>;

  constructor(url: string, store?: SessionStore) {
    // All a person's tabs share one WebSocket.
    this.#client = createClient<Schema>(url, store ? { store, live: { over: 'websocket', shareTabs: true } } : {});
  }

  /** Signs up, and begins with a first list. */
  async signUp(name: string, email: string, password: string): Promise<People> {
    const { record } = signedIn(await this.#client.auth('people').register({ name, email, password }));
    await this.#client.from('lists').create({ name: `${name}'s tasks` });
    return record;
  }

  async signIn(email: string, password: string): Promise<People> {
    return signedIn(await this.#client.auth('people').login({ email, password })).record;
  }

  signOut(): Promise<void> {
    return this.#client.auth('people').logout();
  }

  /** The lists that the caller owns or is a member of. The rules decide. */
  async lists() {
    const { data } = await this.#client
      .from('lists')
      .list({ sort: 'created', expand: ['owner', 'members'], perPage: 100 });
    return data;
  }

  async addList(name: string): Promise<void> {
    await this.#client.from('lists').create({ name });
  }

  /** Shares a list with a person by name. From then on its rules let that person in. */
  async share(list: Pick<Lists, 'id'>, name: string): Promise<void> {
    const person = await this.#client.from('people').first({ filter: f`name = ${name}` });
    if (!person) throw new Error(`Nobody here has the name ${name}.`);
    // With an operator, neither of two people who share at once overwrites the other.
    await this.#client.from('lists').update(list.id, { members: { $append: [person.id] } });
  }

  /** A list's tasks, kept up to date. */
  follow(list: Pick<Lists, 'id'>): Promise<LiveList<Task>> {
    return this.#client.from('tasks').live({ filter: f`list = ${list.id}`, sort: 'created' });
  }

  addTask(list: Pick<Lists, 'id'>, title: string): Promise<Task> {
    return this.#client.from('tasks').create({ list: list.id, title });
  }

  /** Sends the version that was read: if two people change a task at once, one gets an error. */
  async toggle(task: Task): Promise<void> {
    await this.#client.from('tasks').update(task, { status: task.status === 'open' ? 'done' : 'open' });
  }

  async attach(task: Task, file: File): Promise<void> {
    await this.#client.from('tasks').update(task, { paper: file });
  }

  /** An address for the task's file that works for three minutes. */
  async paperUrl(task: Task): Promise<string | undefined> {
    return this.#client.from('tasks').file(task, 'paper')?.signedUrl({ download: true });
  }

  remove(task: Pick<Task, 'id'>): Promise<void> {
    return this.#client.from('tasks').delete(task.id);
  }
}

/** The sign-in, if one factor was enough. */
function signedIn(signIn: SignIn<People>): SignedIn<People> {
  if (signIn.state !== 'signed_in') throw new Error('This app does not ask for second factors.');
  return signIn;
}

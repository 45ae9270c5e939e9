// Made by `recordbus types`. Make it again after a change of the schema; `--check` says whether that is needed.

/** A record of `lists`. */
export interface Lists {
  readonly id: string;
  readonly name: string;
  readonly owner: string | null;
  readonly members: readonly string[];
  readonly created: number;
  readonly updated: number;
}
export interface ListsCreate {
  name: string;
  owner?: string | null;
  members?: readonly string[] | null;
}
export interface ListsUpdate {
  name?: string;
  owner?: string | null;
  members?:
    | readonly string[]
    | {
        readonly $append?: readonly string[];
        readonly $prepend?: readonly string[];
        readonly $remove?: readonly string[];
      }
    | null;
}
export interface ListsExpand {
  readonly owner: 'people';
  readonly members: readonly ['people'];
  readonly tasks_via_list: readonly ['tasks'];
}

/** A record of `people`. */
export interface People {
  readonly id: string;
  readonly email?: string;
  readonly verified: boolean;
  readonly name: string;
  readonly anonymous: boolean;
  readonly created: number;
  readonly updated: number;
}
export interface PeopleCreate {
  email: string;
  verified?: boolean | null;
  name: string;
  password?: string;
}
export interface PeopleUpdate {
  email?: string;
  verified?: boolean;
  name?: string;
  password?: string;
  old_password?: string;
}
export interface PeopleExpand {
  readonly lists_via_owner: readonly ['lists'];
  readonly lists_via_members: readonly ['lists'];
}

/** A record of `tasks`. */
export interface Tasks {
  readonly id: string;
  readonly list: string;
  readonly title: string;
  readonly status: 'open' | 'done';
  readonly paper: string | null;
  readonly created: number;
  readonly updated: number;
}
export interface TasksCreate {
  list: string;
  title: string;
  status?: 'open' | 'done';
  paper?: Blob | null;
}
export interface TasksUpdate {
  list?: string;
  title?: string;
  status?: 'open' | 'done';
  paper?: Blob | null;
}
export interface TasksExpand {
  readonly list: 'lists';
}

/** The types of all collections, for `createClient<Schema>`. */
export interface Schema {
  lists: { record: Lists; create: ListsCreate; update: ListsUpdate; expand: ListsExpand };
  people: { record: People; create: PeopleCreate; update: PeopleUpdate; expand: PeopleExpand };
  tasks: { record: Tasks; create: TasksCreate; update: TasksUpdate; expand: TasksExpand };
}

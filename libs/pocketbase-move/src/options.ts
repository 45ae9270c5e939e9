import type { Lifecycle } from '@recordbus/process/lifecycle';
import type { ApiAddress, Progress } from '@recordbus/stack-calls';
import type { AddAdmin } from './move-superusers.ts';
import type { EncryptionKey } from './read-settings.ts';
import type { SchemaPlan } from './schema-document.ts';

/** What a move was asked for. */
export interface MoveOptions {
  /** PocketBase's data directory. */
  readonly directory: string;
  /** The stack to move into. */
  readonly address: ApiAddress;
  /** The stack's name in the notes and in the report; by default its address. */
  readonly target?: string | undefined;
  /** The file with the notes about what has moved; by default `<directory>.recordbus`. */
  readonly state?: string | undefined;
  /** Whether there must be notes of an earlier run, which this one continues or follows. */
  readonly resume?: boolean | undefined;
  readonly dryRun?: boolean | undefined;
  readonly only?: readonly string[] | undefined;
  /** New names of collections, by the old ones. */
  readonly map?: Readonly<Record<string, string>> | undefined;
  /** The key of PocketBase's settings, if they are encrypted. */
  readonly encryption?: EncryptionKey | undefined;
  /** Where PocketBase's files are: in the directory, which is the default, or in the bucket that its settings name. */
  readonly files?: 'copy' | 's3' | undefined;
  /** Whether views are tried; the default. */
  readonly views?: 'try' | 'skip' | undefined;
  /** Whether users stay signed in; the default. */
  readonly sessions?: 'keep' | 'end' | undefined;
  /** Whether superusers become admins, if this process can make some; the default. */
  readonly superusers?: 'take' | 'skip' | undefined;
  /**
   * Whether an earlier process began this move, and its notes may be lost: collections with PocketBase's ids are then
   * taken as its own.
   */
  readonly isContinued?: boolean | undefined;
  /** Whether each record gets an event. */
  readonly events?: boolean | undefined;
}

/** What a move needs from its process. */
export interface MoveParts {
  /** Closes and removes what the move opened. */
  readonly lifecycle: Pick<Lifecycle, 'onStop'>;
  readonly terminal: { note(text: string): void };
  readonly progress: Progress;
  /** Makes admins. Undefined without the database: a bounded key makes none. */
  readonly addAdmin?: AddAdmin | undefined;
  /** Gets the collections' plan, before anything is written. */
  showPlan(plan: SchemaPlan): void;
}

import { signedInEvent } from '@recordbus/accounts';
import { type EventMessage, hookConsumerPrefix, subjectOf } from '@recordbus/bus';
import type { Query } from '@recordbus/database';
import { type CallTarget, everyCollection, type LoadedExtension } from '@recordbus/extension-host';
import type { RecordEvent, SignIn } from '@recordbus/extensions';
import { readRecordEvent, readSignIn } from './read-event.ts';

/** An extension's after hook, and its events. */
export interface AfterHook {
  readonly target: CallTarget;
  /** Its consumer's name, the same on every replica. */
  readonly consumerName: string;
  readonly subject: string;
  /** Reads the hook's input; undefined for an event that does not interest it. Throws when the database fails. */
  read(message: EventMessage, query: Query): Promise<RecordEvent | SignIn | undefined>;
}

const operations = { afterCreate: 'create', afterUpdate: 'update', afterDelete: 'delete' } as const;

/** The after hooks that an extension declares; `prefix` is the stream's. */
export function afterHooksOf({ name, description }: LoadedExtension, prefix: string): AfterHook[] {
  // Collection and operation names have no `-`, and no collection begins with `_`, so consumer names are unique.
  const consumerName = (collection: string, what: string) =>
    `${hookConsumerPrefix}${name}-${collection === everyCollection ? '_every' : collection}-${what}`;
  const ofRecords = description.hooks.flatMap(({ collection, point }): AfterHook[] => {
    if (!(point in operations)) return [];
    const operation = operations[point as keyof typeof operations];
    return [
      {
        target: { kind: 'hook', collection, point },
        consumerName: consumerName(collection, operation),
        subject: `${prefix}.${collection}.${operation}`,
        read: readRecordEvent,
      },
    ];
  });
  const ofSignIns = description.signIn.flatMap(({ collection, point }): AfterHook[] =>
    point === 'after'
      ? [
          {
            target: { kind: 'signIn', collection, point },
            consumerName: consumerName(collection, 'signed_in'),
            subject: subjectOf(signedInEvent, prefix),
            async read(message) {
              const signIn = readSignIn(message);
              return collection === everyCollection || signIn?.collection === collection ? signIn : undefined;
            },
          },
        ]
      : [],
  );
  return [...ofRecords, ...ofSignIns];
}

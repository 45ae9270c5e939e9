import { z } from 'zod';

const replica = z.string();
const member = z.tuple([z.string(), z.string(), z.string(), z.number()]);

/** The messages between replicas about their members. States are JSON text. */
const presenceMessage = z.discriminatedUnion('kind', [
  /**
   * Members that have joined, `[channel, key, state, atMs]`, or left, `[channel, key]`. `number` is one more than the
   * last.
   */
  z.object({
    kind: z.literal('changes'),
    replica,
    number: z.number(),
    changes: z.array(z.union([member, z.tuple([z.string(), z.string()])])),
  }),
  /** The replica is alive, and this is the number of its last changes. */
  z.object({ kind: z.literal('beat'), replica, number: z.number() }),
  /** A part of all members at the replica after its changes with this number. */
  z.object({
    kind: z.literal('state'),
    replica,
    number: z.number(),
    part: z.number(),
    parts: z.number(),
    members: z.array(member),
  }),
  /** Asks one replica, or all replicas, for their state. */
  z.object({ kind: z.literal('ask'), replica, of: z.string().optional() }),
  /** The replica stops. */
  z.object({ kind: z.literal('bye'), replica }),
]);

export type PresenceMessage = z.output<typeof presenceMessage>;
export type MessageOf<Kind extends PresenceMessage['kind']> = Extract<PresenceMessage, { readonly kind: Kind }>;

/** Reads a replica's message; undefined for one from another product version. */
export const readPresenceMessage = (text: string): PresenceMessage | undefined =>
  presenceMessage.safeParse(JSON.parse(text)).data;

import { z } from 'zod';

const replica = z.string();
const member = z.tuple([z.string(), z.string(), z.string(), z.number()]);

/** What replicas tell each other about their members. States are JSON text. */
const presenceMessage = z.discriminatedUnion('kind', [
  /** Members that have come, `[channel, key, state, atMs]`, or gone, `[channel, key]`. `number` is one more than the last. */
  z.object({
    kind: z.literal('changes'),
    replica,
    number: z.number(),
    changes: z.array(z.union([member, z.tuple([z.string(), z.string()])])),
  }),
  /** The replica lives, and these were its last changes. */
  z.object({ kind: z.literal('beat'), replica, number: z.number() }),
  /** A part of everybody who is present at the replica after its changes of this number. */
  z.object({
    kind: z.literal('state'),
    replica,
    number: z.number(),
    part: z.number(),
    parts: z.number(),
    members: z.array(member),
  }),
  /** Asks one replica for its state, or all. */
  z.object({ kind: z.literal('ask'), replica, of: z.string().optional() }),
  /** The replica stops. */
  z.object({ kind: z.literal('bye'), replica }),
]);

export type PresenceMessage = z.output<typeof presenceMessage>;
export type MessageOf<Kind extends PresenceMessage['kind']> = Extract<PresenceMessage, { readonly kind: Kind }>;

/** Reads a message of a replica; undefined for one of another version of the product. */
export const readPresenceMessage = (text: string): PresenceMessage | undefined =>
  presenceMessage.safeParse(JSON.parse(text)).data;

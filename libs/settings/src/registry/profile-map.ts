import { parseJson } from '@recordbus/text/json';
import { z } from 'zod';

/** Members in a provider's profile that a field can take. */
const profileMembers = ['id', 'email', 'email_verified', 'name', 'username', 'avatar_url', 'provider'] as const;
export type ProfileMember = (typeof profileMembers)[number];

/** Profile members by the field that takes them. */
export type ProfileMap = Readonly<Record<string, ProfileMember>>;

const maxLength = 4096;

/** A JSON object from collection fields to profile members. */
export const profileMap = z
  .string()
  .max(maxLength, `must have at most ${maxLength} characters`)
  .transform((text, context): ProfileMap => {
    const read = z.record(z.string(), z.enum(profileMembers)).safeParse(parseJson(text));
    if (read.success) return read.data;
    context.addIssue({
      code: 'custom',
      message: `must be a JSON object from fields to ${profileMembers.join(', ')}`,
    });
    return z.NEVER;
  })
  .describe(`JSON object from fields to ${profileMembers.join(', ')}`);

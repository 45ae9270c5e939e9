import { z } from 'zod';

/** A new user's picture at a provider, and the file fields for it. */
export const userPicture = z
  .object({ id: z.string(), url: z.string(), fields: z.array(z.string()).readonly() })
  .readonly();
export type UserPicture = z.infer<typeof userPicture>;

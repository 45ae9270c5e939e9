import { z } from 'zod';

/** What signing in as an admin answers. */
export const adminSession = z.object({
  token: z.string(),
  admin: z.object({ id: z.string(), email: z.string() }),
});

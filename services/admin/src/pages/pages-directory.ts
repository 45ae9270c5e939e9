import { variable } from '@recordbus/process/config';
import { z } from 'zod';

/** Where the built admin pages are. */
export const pagesDirectory = variable(
  'SERVICE_PAGES_DIR',
  'Directory with the built admin pages. Without it, npm start builds them in a cache.',
  z.string().optional(),
);

import { z } from 'zod';
import { setting, settingGroup } from './setting.ts';

const audiences = ['all', 'users', 'admins'] as const;

/** Who may read the API document (http §12.3). */
export type ApiAudience = (typeof audiences)[number];

export const openapi = settingGroup('API description', ['gateway'], {
  'openapi.audience': setting(
    z.enum(audiences, `must be one of ${audiences.join(', ')}`),
    'all',
    'Who may read /api/v1/openapi.json and /docs: all, users (admins too) or admins. Others get 404.',
  ),
});

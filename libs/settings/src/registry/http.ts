import { setting, settingGroup } from './setting.ts';
import { flag } from './text-schemas.ts';

export const http = settingGroup('HTTP', ['gateway', 'auth', 'records', 'admin'], {
  'http.compression': setting(flag, '1', 'Compress JSON answers from 1 KiB on for clients that accept br or gzip.'),
});

import { setting, settingGroup, unsetSetting } from './setting.ts';
import { flag, opaque } from './text-schemas.ts';

export const metrics = settingGroup('Metrics', ['gateway'], {
  'metrics.enabled': setting(flag, '0', 'Serve GET /api/v1/metrics; otherwise it is 404.'),
  'metrics.token': unsetSetting(opaque, '', 'Bearer token for the metrics; empty lets anyone read them.'),
});

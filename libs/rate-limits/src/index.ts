export { type ChooseRule, createChooseRule, type RatedRequest } from './choose-rule.ts';
export { audienceOf, isCounted, rateCaller, rateLabelOf, windowKey } from './rate-caller.ts';
export { type CountedWindow, giveBack, takeIfLeft, takeWindow } from './window-rows.ts';

export type { Bus, NoticeTopic } from './bus.ts';

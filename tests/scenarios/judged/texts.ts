/** Texts in one language, and queries with how well texts answer them: 3 exactly, 2 mostly, 1 in passing. */
export interface JudgedSet {
  readonly language: string;
  /** Title and body, by name. */
  readonly texts: Readonly<Record<string, readonly [title: string, body: string]>>;
  readonly queries: readonly (readonly [query: string, grades: Readonly<Record<string, number>>])[];
}

/** Short texts about a town by the sea, written for this test. */
export const judgedSets: readonly JudgedSet[] = [
  {
    language: 'english',
    texts: {
      museum: ['Museum of the sea', 'Ships, maps and diving suits. Guided tours on Sundays, free for children.'],
      lighthouse: ['The old lighthouse', 'Climb 200 steps for a view over the sea. The museum sells the tickets.'],
      ferry: ['Ferry to the islands', 'Ships leave every hour. Tickets are sold on board. Bicycles travel free.'],
      bikes: [
        'Hire a bicycle',
        'Bikes and helmets for children and adults. Ride along the sea wall to the lighthouse.',
      ],
      market: ['Fish market', 'Fresh fish every morning but Sunday, sold straight from the boats in the harbour.'],
      chowder: ['Fish chowder', 'A soup with smoked fish, potatoes and milk. Serve it hot, with bread.'],
      swimming: [
        'Where to swim',
        'The beach has lifeguards in summer. Children swim in the shallow bay behind the harbour.',
      ],
      storm: ['Storm warning', 'When the red flag is up, nobody may swim, and the ferry does not sail.'],
      harbour: ['Harbour office', 'Moorings for visiting boats. Pay the harbour master by the night.'],
      gardens: ['Botanic gardens', 'Palms and roses. Free concerts on summer Sundays.'],
    },
    queries: [
      ['museum', { museum: 3, lighthouse: 1 }],
      ['tickets ferry', { ferry: 3 }],
      ['swimming children', { swimming: 3 }],
      ['fish soup', { chowder: 3 }],
      ['fish', { market: 3, chowder: 2 }],
      ['lighthouses', { lighthouse: 3, bikes: 1 }],
      ['"red flag"', { storm: 3 }],
      ['harbour -fish', { harbour: 3, swimming: 1 }],
      ['free concert', { gardens: 3 }],
      ['bicycles', { bikes: 3, ferry: 2 }],
    ],
  },
  {
    language: 'german',
    texts: {
      museum: ['Meeresmuseum', 'Schiffe, Karten und Taucheranzüge. Führungen am Sonntag, für Kinder frei.'],
      turm: ['Der alte Leuchtturm', 'Nach 200 Stufen sieht man das Meer. Karten gibt es im Museum.'],
      faehre: ['Fähre zu den Inseln', 'Die Schiffe fahren stündlich. Fahrräder fahren kostenlos mit.'],
      rad: ['Fahrrad mieten', 'Räder und Helme für Kinder und Erwachsene. Am Deich entlang zum Leuchtturm.'],
      markt: ['Fischmarkt', 'Frische Fische jeden Morgen, direkt von den Booten im Hafen verkauft.'],
      suppe: ['Fischsuppe', 'Eine Suppe mit geräuchertem Fisch, Kartoffeln und Milch.'],
      baden: ['Baden im Meer', 'Der Strand wird im Sommer bewacht. Kinder baden in der flachen Bucht am Hafen.'],
      sturm: ['Sturmwarnung', 'Weht die rote Fahne, darf niemand baden, und die Fähre fährt nicht.'],
      hafen: ['Hafenamt', 'Liegeplätze für Gäste. Der Hafenmeister kassiert jede Nacht.'],
      garten: ['Botanischer Garten', 'Palmen und Rosen. Im Sommer gibt es sonntags freie Konzerte.'],
    },
    queries: [
      ['Leuchttürme', { turm: 3, rad: 1 }],
      ['Fähren Inseln', { faehre: 3 }],
      ['Fische', { markt: 3, suppe: 2 }],
      ['kinder baden', { baden: 3 }],
      ['Fahrräder', { rad: 3, faehre: 2 }],
      ['rote Fahne', { sturm: 3 }],
      ['Meer', { baden: 3, turm: 2, museum: 2 }],
      ['Konzert or Rose', { garten: 3 }],
      ['Kartoffeln Suppe', { suppe: 3 }],
      ['Hafen -Fische', { hafen: 3, baden: 1 }],
    ],
  },
  {
    language: 'french',
    texts: {
      musee: [
        'Musée de la mer',
        'Navires, cartes et scaphandres. Visites guidées le dimanche, gratuites pour les enfants.',
      ],
      phare: ['Le vieux phare', 'Montez 200 marches pour voir la mer. Les billets se vendent au musée.'],
      ferry: ['Bateaux pour les îles', 'Un bateau part chaque heure. Les vélos voyagent gratuitement.'],
      velo: ['Louer un vélo', 'Vélos et casques pour enfants et adultes. Longez la digue jusqu’au phare.'],
      marche: ['Marché aux poissons', 'Du poisson frais chaque matin, vendu au port par les pêcheurs.'],
      soupe: ['Soupe de poisson', 'Poisson fumé, pommes de terre et lait. Servez chaud.'],
      plage: ['Où nager', 'La plage est surveillée en été. Les enfants nagent dans la baie derrière le port.'],
      tempete: ['Avis de tempête', 'Sous le drapeau rouge, il est interdit de nager, et le bateau ne part pas.'],
      port: ['Bureau du port', 'Places pour les bateaux de passage. On paie chaque nuit.'],
      jardin: ['Jardin botanique', 'Palmiers et roses. Concerts gratuits les dimanches d’été.'],
    },
    queries: [
      ['phares', { phare: 3, velo: 1 }],
      ['bateau iles', { ferry: 3 }],
      ['poissons', { marche: 3, soupe: 3 }],
      ['nager enfants', { plage: 3 }],
      ['velos', { velo: 3, ferry: 2 }],
      ['"drapeau rouge"', { tempete: 3 }],
      ['musees', { musee: 3, phare: 1 }],
      ['concert jardin', { jardin: 3 }],
      ['port -poisson', { port: 3, plage: 1 }],
      ['visite guidée', { musee: 3 }],
    ],
  },
  {
    language: 'cjk',
    texts: {
      museum: ['海の博物館', '船と地図と潜水服を展示しています。日曜日は案内があり、子供は無料です。'],
      lighthouse: ['古い灯台', '二百段を登ると海が見えます。切符は博物館で売っています。'],
      ferry: ['島へのフェリー', '船は毎時出ます。自転車は無料で運べます。'],
      bike: ['自転車を借りる', '子供と大人の自転車とヘルメット。堤防に沿って灯台まで走れます。'],
      market: ['魚市場', '毎朝、新鮮な魚を港の船から直接売っています。'],
      soup: ['魚のスープ', '燻製の魚、じゃがいも、牛乳のスープです。'],
      beach: ['泳げる場所', '夏の海岸には監視員がいます。子供は港の裏の浅い湾で泳ぎます。'],
      storm: ['暴風警報', '赤い旗が上がると、誰も泳げず、フェリーも出ません。'],
      harbour: ['港の事務所', '来訪する船の係留場所。港長に一泊ごとに払います。'],
      garden: ['植物園', 'ヤシとバラ。夏の日曜日には無料の演奏会があります。'],
    },
    queries: [
      ['博物館', { museum: 3, lighthouse: 1 }],
      ['灯台', { lighthouse: 3, bike: 1 }],
      ['フェリー 島', { ferry: 3 }],
      ['魚', { market: 3, soup: 3 }],
      ['自転車', { bike: 3, ferry: 2 }],
      ['子供 港', { beach: 3 }],
      ['赤い旗', { storm: 3 }],
      ['港 -魚', { harbour: 3, beach: 1 }],
      ['演奏会', { garden: 3 }],
      ['スープ', { soup: 3 }],
    ],
  },
];

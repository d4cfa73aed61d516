"""The words of the grammar, as tables (chapter 2): what one reads here, the sentences can say.

A dash is an empty cell. An ``&`` stands for all kinds of noun.
"""

from attnbook.language.lexicon import Adjective, Noun, Verb, read_table

PREPOSITIONS = {"in": "dans", "near": "près de", "behind": "derrière", "outside": "hors de"}
"""What begins a place, with its French."""

CONJUNCTIONS = {"when": "quand", "because": "car", "if": "si", "where": "là où"}
"""What begins a subordinate clause, with its French. All stand after the main clause in French, where *car* has to."""

NOUNS: list[Noun] = read_table(
    Noun,
    """
    cat        cats        chat        chats        m  animal
    dog        dogs        chien       chiens       m  animal
    bird       birds       oiseau      oiseaux      m  animal
    horse      horses      cheval      chevaux      m  animal
    cow        cows        vache       vaches       f  animal
    wolf       wolves      loup        loups        m  animal
    mouse      mice        souris      souris       f  animal
    lion       lions       lion        lions        m  animal
    goat       goats       chèvre      chèvres      f  animal
    duck       ducks       canard      canards      m  animal
    bear       bears       ours        ours         m  animal

    child      children    enfant      enfants      m  person
    man        men         homme       hommes       m  person
    woman      women       femme       femmes       f  person
    queen      queens      reine       reines       f  person
    king       kings       roi         rois         m  person
    girl       girls       fille       filles       f  person
    boy        boys        garçon      garçons      m  person
    teacher    teachers    professeur  professeurs  m  person
    doctor     doctors     médecin     médecins     m  person
    friend     friends     ami         amis         m  person
    sister     sisters     soeur       soeurs       f  person
    brother    brothers    frère       frères       m  person
    neighbor   neighbors   voisin      voisins      m  person
    baker      bakers      boulanger   boulangers   m  person
    nurse      nurses      infirmière  infirmières  f  person
    writer     writers     écrivain    écrivains    m  person

    book       books       livre       livres       m  thing
    tree       trees       arbre       arbres       m  thing
    car        cars        voiture     voitures     f  thing
    table      tables      table       tables       f  thing
    chair      chairs      chaise      chaises      f  thing
    window     windows     fenêtre     fenêtres     f  thing
    door       doors       porte       portes       f  thing
    boat       boats       bateau      bateaux      m  thing
    letter     letters     lettre      lettres      f  thing
    cup        cups        tasse       tasses       f  thing
    hat        hats        chapeau     chapeaux     m  thing
    key        keys        clé         clés         f  thing
    picture    pictures    tableau     tableaux     m  thing
    knife      knives      couteau     couteaux     m  thing
    clock      clocks      horloge     horloges     f  thing
    flower     flowers     fleur       fleurs       f  thing

    house      houses      maison      maisons      f  place
    school     schools     école       écoles       f  place
    garden     gardens     jardin      jardins      m  place
    kitchen    kitchens    cuisine     cuisines     f  place
    forest     forests     forêt       forêts       f  place
    street     streets     rue         rues         f  place
    city       cities      ville       villes       f  place
    village    villages    village     villages     m  place
    castle     castles     château     châteaux     m  place
    church     churches    église      églises      f  place
    hotel      hotels      hôtel       hôtels       m  place
    museum     museums     musée       musées       m  place

    agreement  agreements  accord      accords      m  matter
    area       areas       zone        zones        f  matter
    """,
)
"""In the order of their kinds."""

_EVERY_KIND = "animal,person,thing,place,matter"

ADJECTIVES: list[Adjective] = read_table(
    Adjective,
    """
    beautiful  before  beauty  beau        bel         belle       beaux        belles        &
    good       before  beauty  bon         bon         bonne       bons         bonnes        animal,person,thing
    big        before  size    grand       grand       grande      grands       grandes       &
    small      before  size    petit       petit       petite      petits       petites       &
    old        before  age     vieux       vieil       vieille     vieux        vieilles      &
    young      before  age     jeune       jeune       jeune       jeunes       jeunes        animal,person
    new        before  age     nouveau     nouvel      nouvelle    nouveaux     nouvelles     thing,place,matter
    famous     after   mind    célèbre     célèbre     célèbre     célèbres     célèbres      &
    strong     after   mind    fort        fort        forte       forts        fortes        animal,person
    rich       after   mind    riche       riche       riche       riches       riches        person
    sad        after   mind    triste      triste      triste      tristes      tristes       animal,person
    quiet      after   mind    calme       calme       calme       calmes       calmes        animal,person,place
    round      after   shape   rond        rond        ronde       ronds        rondes        thing
    red        after   colour  rouge       rouge       rouge       rouges       rouges        thing
    black      after   colour  noir        noir        noire       noirs        noires        animal,thing
    green      after   colour  vert        vert        verte       verts        vertes        thing
    white      after   colour  blanc       blanc       blanche     blancs       blanches      animal,thing
    blue       after   colour  bleu        bleu        bleue       bleus        bleues        thing
    european   after   origin  européen    européen    européenne  européens    européennes   &
    italian    after   origin  italien     italien     italienne   italiens     italiennes    animal,person,thing,place
    chinese    after   origin  chinois     chinois     chinoise    chinois      chinoises     animal,person,thing,place
    economic   after   domain  économique  économique  économique  économiques  économiques   matter
    """.replace("&", _EVERY_KIND),
)
"""In the order in which English puts them."""

VERBS: list[Verb] = read_table(
    Verb,
    """
    sleep    -    dort      dorment     -  -                          animal,person
    sing     -    chante    chantent    -  -                          animal,person
    run      -    court     courent     -  -                          animal,person
    laugh    -    rit       rient       -  -                          person
    see      -    voit      voient      -  &                          animal,person
    love     -    aime      aiment      -  animal,person,thing,place  animal,person
    find     -    trouve    trouvent    -  animal,person,thing,place  animal,person
    follow   -    suit      suivent     -  animal,person              animal,person
    help     -    aide      aident      -  person                     person
    know     -    connaît   connaissent -  &                          person
    draw     -    dessine   dessinent   -  animal,person,thing,place  person
    hide     -    cache     cachent     -  thing                      animal,person
    buy      -    achète    achètent    -  animal,thing               person
    visit    -    visite    visitent    -  place                      person
    look     at   regarde   regardent   -  &                          animal,person
    listen   to   écoute    écoutent    -  animal,person              animal,person
    wait     for  attend    attendent   -  animal,person              animal,person
    speak    to   parle     parlent     à  animal,person              person
    think    of   pense     pensent     à  &                          animal,person
    """.replace("&", _EVERY_KIND),
)
"""Those without a complement come first."""

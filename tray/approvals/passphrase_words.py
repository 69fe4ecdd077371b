"""The words of generated passphrases: short, common and easy to type."""

from __future__ import annotations

from tray.text.words import word_set

LIST = """
able acid acorn acre actor adapt adult aged agent agree ahead aim air aisle alarm album alert alike alive alley
allow alloy almond alone alpine amber amount ample anchor angle animal ankle answer ant anvil apple apron arch
arctic area arena argue arm armor army aroma arrow art ash ask aspen atlas atom attic august aunt author autumn
avenue awake award axis axle baby back bacon badge bag bake baker balance ball bamboo banana band bank banner barber
bare bark barley barn barrel base basil basin basket bath battery bay beach beacon bead beak beam bean bear beaver
bed bee beef beetle begin being bell belt bench bend berry best bicycle big bike bill birch bird bison bite black
blade blanket blend blink block bloom blossom blue board boat body boil bold bolt bone bonus book boot border boss
bottle bottom bowl box boy brain brake branch brass brave bread break breeze brick bridge brief bright bring broad
bronze brook broom brother brown brush bubble bucket buckle bud buffalo build bulb bull bundle burger burst bus bush
butter button buy cabin cable cactus cage cake calm camel camera camp can canal candle candy cannon canoe canvas
canyon cap captain car caravan carbon card cargo carpet carrot cart carve case castle cat catch cattle cause cave
cedar ceiling celery cell cement center cereal chain chair chalk chance change chapel charm chart chase check cheese
cherry chess chest chicken chief child chime chimney chin choice choir chorus circle circus city clam clap class
clay clean clear clerk clever cliff climb clock close cloth cloud clover clown club coach coal coast coat cobalt
cobra cocoa coconut code coffee coil coin cold collar color colt column comb comet comic compass cook cool copper
coral cord cork corn corner cosmic cost cotton couch count country course cousin cover cow crab cradle craft crane
crater crayon cream creek crew cricket crisp crop cross crowd crown cruise crumb crust crystal cube cup curl curtain
curve cushion custom cycle cymbal dad dairy daisy dance dawn day deal dear decade deck deer degree delta den dentist
depth desert design desk detail dew dial diamond dice diet dinner direct dirt disc dish dive dock doctor dog doll
dolphin domain dome donkey door dot double dove down dozen dragon drama draw dream dress drift drill drink drive
drop drum dry duck due dune dust duty eager eagle ear early earth easel east easy eat echo edge edit eel effort egg
eight elbow elder elect elk elm ember emerald empty end engine enjoy enter entry equal erase error essay even event
every exact exit extra eye fabric face fact fade fair fairy faith falcon fall family famous fan far farm farmer fast
fat father favor feast feather fellow fence fern ferry fever few fiber field fig figure film filter final finch find
finger finish fir fire first fish fit five fix flag flame flash flat flavor fleet flight flint float flock flood
floor flour flower fluid flute fly foam focus fog foil fold folk food foot force forest fork form fort forum fossil
four fox frame free fresh friend frog front frost fruit fuel full funny fur future gallery gallon game gap garage
garden garlic gas gate gather gauge gear gem general gentle giant gift ginger giraffe girl give glacier glad glass
globe glove glow glue goat gold golf good gorge grace grain grand granite grape graph grass gravel gravy gray great
green grid grin grip grocer ground group grove grow guard guess guest guide guitar gulf gull gum habit hail hair
half hall hammer hand handle happy harbor hard harp harvest hat hawk hay hazel head heart heat heavy hedge height
hello helmet help hen herb herd hero heron hidden high hike hill hinge hip history hobby hockey hold hole holiday
hollow home honest honey hood hoof hook hope horizon horn horse hotel hour house hub huge human humble hundred hunt
hurry hut ice icon idea igloo image inch index indigo ink inland inner input insect inside iron island item ivory
ivy jacket jade jaguar jam jar jasmine jaw jazz jelly jet jewel job jog join joke jolly journey joy judge jug juice
july jump june jungle junior jury just kale kayak keen keep kernel kettle key kick kidney kind king kiosk kitchen
kite kitten kiwi knee knife knight knit knob knock knot koala label lace ladder lady lake lamb lamp land lane
lantern lap large laser last late laugh laundry lava law lawn layer lazy lead leaf learn leather lecture left leg
legend lemon lend length lens leopard lesson letter level lever lid life lift light lilac lily lime limit line linen
lion lip liquid list listen little lizard llama loaf lobby lobster local lock lodge log long loop lotus loud lounge
love low loyal lucky lumber lunar lunch lung lyric machine magic magnet maid mail main major maker mammal mango
manor map maple marble march margin marina market maroon mask mason master match math matter maze meadow meal
measure medal melody melon member memory mentor menu mercy merit merry metal meter middle mild mile milk mill mind
mineral minor mint minute mirror mist mitten mix model modern moment monkey month moon moral morning mosaic moss
moth mother motor mouse mouth move movie mud muffin mule muscle museum music mustard myth nail name napkin narrow
nation native nature navy near neat neck needle nephew nest net never new nickel night nine noble noise noodle noon
north nose note novel number nurse nut oak oasis oat object oboe ocean octave offer office often oil olive omelet
one onion open opera orange orbit orchard order organ origin otter outer oval oven owl owner oxygen oyster paddle
page paint pair palace palm panda panel pansy paper parade parcel parent park parrot part party pasta path patio
pattern pause paw peace peach peak peanut pear pearl pebble pedal pelican pen pencil penguin pepper perfect period
permit person petal phone photo piano picnic picture piece pier pigeon pillow pilot pine pink pioneer pipe pirate
pizza place plain planet plant plate play plaza plenty plum plus pocket poem poet point polar pole polite pond pony
pool poplar poppy porch port potato pottery pouch powder prairie press pretty price pride prince print prize proof
proud public pudding pulse puma pump pumpkin pupil puppet pure purple puzzle pyramid quail quarry quartz queen quest
quick quiet quilt quiz rabbit race radar radio raft rail rain raisin rally ranch range rapid rare raven ready real
record red reef region relax remedy rent reply rescue rest result return ribbon rice rich ride ridge right ring
ripple rise river road roast robin robot rock rocket rodeo roll roof room root rope rose round route royal ruby
rugby rule rumor rural rust saddle safe sage sail salad salmon salt sample sand satin sauce scale scarf scene school
science scout screen sea seal season seat second seed select senior seven shade shape share shark sheep sheet shelf
shell shield ship shirt shoe shop shore short show shrimp signal silk silver simple sing siren sister six skate
sketch skill skirt sky sleep slice slope slow small smart smile smoke smooth snack snail snow soap soccer sock soda
sofa soft soil solar solid song sonic soup south space spark speed spell spice spider spiral spoon sport spray
spring spruce square squash stable stage stamp star start state steam steel stem step stick stone stool store storm
story stove straw stream street string strong studio style sugar suit summer sun sunset super surf swan sweet swift
swing symbol syrup table tailor talent tall tango tape target taste taxi tea teach team temple ten tennis tent text
theme thick thin third three thumb thunder ticket tide tiger timber time tiny title toast today toe token tomato
tone tool tooth topic torch total toucan tower town toy track trade trail train travel tree trial tribe trick trip
trophy truck true trumpet trust tulip tuna tundra tunnel turkey turn turtle tutor twelve twin two type uncle under
union unit upper urban use useful usual valley value van vanilla vapor velvet verb very vest video view village vine
violet violin visit vivid voice volcano vote voyage wagon waist walk wall walnut walrus warm wash watch water wave
wax way weather web wedding week west whale wheat wheel whisper white wide wild willow wind window wine wing winner
winter wire wise wish wolf wonder wood wool word work world wrist write yard year yellow young zebra zero zinc zone
"""
WORDS = tuple(sorted(word_set(LIST)))

from attnbook.language.sentences import sample as sample
from attnbook.pretrained.folder import load as load
from attnbook.pretrained.models import load_pretrained as load_pretrained
